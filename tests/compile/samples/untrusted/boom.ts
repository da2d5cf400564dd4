throw new Error("imported");
