throw new Error("it is not imported");
