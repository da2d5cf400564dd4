export interface Chart {
  readonly title: string;
  readonly bars: readonly { readonly name: string; readonly value: number }[];
}

const width = 720;
const labels = 220;
const row = 18;

/** Horizontal bars, one chart below the other, as SVG. */
export function plot(charts: readonly Chart[]): string {
  let top = 0;
  const parts = charts.map(({ title, bars }) => {
    const most = Math.max(...bars.map(({ value }) => value));
    const lines = bars.map(({ name, value }, index) => {
      const y = top + 40 + index * row;
      const length = Math.max(1, ((width - labels - 60) * value) / most);
      const color = name.startsWith("llm-do") ? "#2563eb" : "#9ca3af";
      const bar = `<rect x="${labels}" y="${y - 11}" width="${length.toFixed(0)}" height="13" fill="${color}"/>`;
      const label = `<text x="${labels - 8}" y="${y}" text-anchor="end">${name}</text>`;
      return `${label}${bar}<text x="${labels + length + 6}" y="${y}">${value.toFixed(2)}</text>`;
    });
    const head = `<text x="8" y="${top + 20}" font-weight="bold">${title}: time beside a plain fetch loop</text>`;
    top += 50 + bars.length * row;
    return [head, ...lines].join("\n");
  });
  const style = 'font-family="sans-serif" font-size="12" fill="#374151"';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top}" ${style}>\n<rect width="100%" height="100%" fill="#fff"/>\n${parts.join("\n")}\n</svg>\n`;
}
