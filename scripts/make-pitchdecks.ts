// Makes the decks of examples/pitchdeck_eval/input. The companies, people and numbers in them are invented.
//
//   node scripts/make-pitchdecks.ts            writes the decks
//   node scripts/make-pitchdecks.ts --check    writes nothing, fails if the files there are not what it would write
//
// Two runs give the same bytes: the dates are fixed, and the streams are not compressed, because what zlib makes of
// the same input depends on the version of Node and the processor.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import PDFDocument from "pdfkit";

interface Deck {
  readonly file: string;
  readonly company: string;
  readonly tagline: string;
  readonly round: string;
  readonly date: string;
  readonly accent: string;
  readonly slides: readonly Slide[];
}

interface Slide {
  /** The small line at the top, which says what the slide is about. */
  readonly label: string;
  readonly title: string;
  readonly bullets: readonly string[];
  readonly chart?: Chart;
}

interface Chart {
  readonly caption: string;
  readonly bars: readonly (readonly [label: string, value: number])[];
}

const decks: readonly Deck[] = [
  {
    file: "tidewell-sensors.pdf",
    company: "Tidewell Sensors",
    tagline: "Hears the leak before the street does",
    round: "Series A, March 2026",
    date: "2026-03-02T09:00:00Z",
    accent: "#0b6e8f",
    slides: [
      {
        label: "Problem",
        title: "Cities lose water that they have already paid to clean",
        bullets: [
          "23% of the treated water in a mid-size network never reaches a meter",
          "A hidden leak runs for 197 days before anybody reports it",
          "A utility with 80,000 connections writes off $3.1 million a year",
        ],
      },
      {
        label: "Solution",
        title: "A microphone on the hydrant, a map on the desk",
        bullets: [
          "The sensor clips to a hydrant in 4 minutes, with no digging",
          "It places a leak within 2.5 metres, from the sound of a single night",
          "The crews stay as they are; what changes is the list that they get in the morning",
        ],
      },
      {
        label: "Market",
        title: "The budget line exists: surveys on foot",
        bullets: [
          "41,000 utilities in North America and Europe serve more than 5,000 people each",
          "Together they spend $2.6 billion a year on walking the streets with headphones",
          "We begin with 1,900 mid-size utilities, a market of $410 million a year",
        ],
      },
      {
        label: "Traction",
        title: "Annual recurring revenue of $1,837,400",
        bullets: [
          "14 utilities pay, and none has left",
          "Net revenue retention is 131%",
          "612 leaks were dug up, 94% of them where the map had shown them",
        ],
        chart: {
          caption: "Annual recurring revenue at the quarter's end, thousand dollars",
          bars: [
            ["Q4 24", 655],
            ["Q1 25", 905],
            ["Q2 25", 1190],
            ["Q3 25", 1502],
            ["Q4 25", 1837],
          ],
        },
      },
      {
        label: "Business model",
        title: "Rented by the sensor, renewed with the network's plan",
        bullets: [
          "$38 a month for each sensor, in contracts of 3 years",
          "Gross margin is 68% with hardware included",
          "A new utility has paid for its own sale after 11 months",
        ],
      },
      {
        label: "Team",
        title: "Water people and sound people",
        bullets: [
          "Ines Okafor, chief executive: 9 years of leak control for 310,000 homes",
          "Tomas Lindqvist, technology: 3 patents in underwater acoustics",
          "One office, in Rotterdam, with a test loop of real street pipe in the yard",
        ],
      },
      {
        label: "Ask",
        title: "$6.5 million to go from 14 utilities to 120",
        bullets: [
          "24 months of runway, to recurring revenue of $9 million",
          "55% field sales, 30% product, 15% certification in 4 countries",
          "$2.2 million is committed by those who invested before",
        ],
      },
    ],
  },
  {
    file: "brindle-robotics.pdf",
    company: "Brindle Robotics",
    tagline: "Prunes an orchard while the crew sleeps",
    round: "Seed round, April 2026",
    date: "2026-04-13T09:00:00Z",
    accent: "#4c7a34",
    slides: [
      {
        label: "Problem",
        title: "Winter pruning cannot find its hands",
        bullets: [
          "Pruning is 27% of what it costs to run an apple orchard",
          "Growers in our valley filled 58 of every 100 winter jobs last year",
          "What is not pruned by March bears small fruit in autumn",
        ],
      },
      {
        label: "Solution",
        title: "A slow machine that never guesses",
        bullets: [
          "Two arms on a narrow tractor, with cameras that see a branch from both sides",
          "One tree takes 92 seconds; a skilled hand needs about 70",
          "A cut that the machine is unsure of is painted blue and left to a person",
        ],
      },
      {
        label: "Market",
        title: "Apples first, then pears and cherries",
        bullets: [
          "4.8 million hectares of apples are pruned by hand, every winter",
          "Trellised orchards come first, because their trees are flat",
        ],
        chart: {
          caption: "Trellised apple orchards in Europe, thousand hectares",
          bars: [
            ["2010", 61],
            ["2015", 88],
            ["2020", 124],
            ["2025", 173],
          ],
        },
      },
      {
        label: "Traction",
        title: "Two winters in other people's trees",
        bullets: [
          "46,312 trees pruned for three growers, who paid for the diesel alone",
          "The first paid season is agreed by handshake, and not yet signed",
        ],
      },
      {
        label: "Team",
        title: "Three founders from one workshop",
        bullets: [
          "Marta Brindle grew up on the orchard where the machine was built",
          "Jonas Achterberg and Lea Fontaine wrote the vision system at university",
          "We look for a head of sales, and have none yet",
        ],
      },
      {
        label: "Ask",
        title: "A first fleet for a first paid winter",
        bullets: ["We raise $1.4 million for 6 machines", "The money lasts until the spring after next"],
      },
    ],
  },
  {
    file: "parcelmoth.pdf",
    company: "Parcelmoth",
    tagline: "Every parcel, everywhere, overnight, by glider",
    round: "Seed round, May 2026",
    date: "2026-05-18T09:00:00Z",
    accent: "#7a3b69",
    slides: [
      {
        label: "Vision",
        title: "The sky is empty at night",
        bullets: [
          "Roads are full, and nobody owns the air above them",
          "A glider needs no fuel, so delivery will be almost free",
          "We will be the network that all commerce flies on",
        ],
      },
      {
        label: "Solution",
        title: "A glider in every warehouse",
        bullets: [
          "Launched by winch, steered by our own patented guidance",
          "Guaranteed to land in the customer's garden",
          "There is no competition in gliders",
        ],
      },
      {
        label: "Market",
        title: "All of it",
        bullets: ["The world spends $917 billion a year on parcels", "Taking a small part of that is enough"],
      },
      {
        label: "Forecast",
        title: "From nothing to $640 million",
        bullets: ["We are pre-revenue, and expect to change that quickly", "Every launch site pays for the next"],
        chart: {
          caption: "Revenue that we expect, million dollars",
          bars: [
            ["2026", 0],
            ["2027", 12],
            ["2028", 95],
            ["2029", 310],
            ["2030", 640],
          ],
        },
      },
      {
        label: "Ask",
        title: "Join us above the clouds",
        bullets: ["We raise $12 million at a valuation to be discussed", "Half is for the brand, half is for the first winch"],
      },
    ],
  },
];

const page = { width: 960, height: 540 };
const margin = 64;
const ink = "#1d2330";
const faint = "#6b7280";

type Pdf = InstanceType<typeof PDFDocument>;

function cover(pdf: Pdf, deck: Deck): void {
  pdf.rect(0, 0, page.width, page.height).fill(deck.accent);
  pdf.rect(margin, 318, 120, 4).fill("#ffffff");
  pdf.fillColor("#ffffff");
  pdf.font("Helvetica-Bold").fontSize(56).text(deck.company, margin, 180);
  pdf.font("Helvetica").fontSize(24).text(deck.tagline, margin, 258);
  pdf.fontSize(16).text(deck.round, margin, 346);
  pdf.fontSize(11).text("A fictional company. Every name and number in this deck is invented.", margin, 484);
}

function slidePage(pdf: Pdf, deck: Deck, slide: Slide, number: number, of: number): void {
  const [width, size] = slide.chart === undefined ? [page.width - 2 * margin, 22] : [400, 20];
  pdf.rect(0, 0, 14, page.height).fill(deck.accent);
  pdf.fillColor(deck.accent).font("Helvetica-Bold").fontSize(14).text(slide.label, margin, 52);
  pdf
    .fillColor(ink)
    .fontSize(32)
    .text(slide.title, margin, 76, { width: page.width - 2 * margin });
  if (slide.chart !== undefined) barChart(pdf, deck, slide.chart);
  let y = 196;
  pdf.font("Helvetica").fontSize(size);
  for (const bullet of slide.bullets) {
    pdf.fillColor(deck.accent).text("•", margin, y);
    pdf.fillColor(ink).text(bullet, margin + 24, y, { width: width - 24, lineGap: 4 });
    y = pdf.y + 20;
  }
  pdf.fillColor(faint).fontSize(11).text(`${deck.company}, page ${number} of ${of}`, margin, 496);
}

function barChart(pdf: Pdf, deck: Deck, chart: Chart): void {
  const left = 512;
  const width = page.width - margin - left;
  const base = 420;
  const highest = 190;
  const greatest = Math.max(...chart.bars.map(([, value]) => value));
  const slot = width / chart.bars.length;
  pdf.fillColor(faint).font("Helvetica").fontSize(12).text(chart.caption, left, 190, { width });
  for (const [index, [label, value]] of chart.bars.entries()) {
    const height = Math.round((value / greatest) * highest);
    const x = left + index * slot;
    pdf.rect(x + slot * 0.15, base - height, slot * 0.7, height).fill(deck.accent);
    pdf.fillColor(ink).fontSize(12);
    pdf.text(value.toLocaleString("en-US"), x, base - height - 16, { width: slot, align: "center" });
    pdf.fillColor(faint).text(label, x, base + 8, { width: slot, align: "center" });
  }
  pdf
    .moveTo(left, base)
    .lineTo(left + width, base)
    .lineWidth(1)
    .stroke(faint);
}

async function makeDeck(deck: Deck): Promise<Buffer> {
  const pages = deck.slides.length + 1;
  const pdf = new PDFDocument({
    size: [page.width, page.height],
    margin: 0,
    compress: false,
    lang: "en",
    info: {
      Title: `${deck.company}: ${deck.round}`,
      Author: deck.company,
      Subject: "A fictional company",
      CreationDate: new Date(deck.date),
    },
  });
  const bytes = buffer(pdf);
  cover(pdf, deck);
  for (const [index, slide] of deck.slides.entries()) {
    pdf.addPage();
    slidePage(pdf, deck, slide, index + 2, pages);
  }
  pdf.end();
  return bytes;
}

function readIfThere(file: URL): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

const folder = new URL("../examples/pitchdeck_eval/input/", import.meta.url);
const args = process.argv.slice(2);
if (args.some((arg) => arg !== "--check")) {
  console.error("Usage: node scripts/make-pitchdecks.ts [--check]");
  process.exit(2);
}
const check = args.includes("--check");
if (!check) mkdirSync(folder, { recursive: true });
for (const deck of decks) {
  const bytes = await makeDeck(deck);
  const file = new URL(deck.file, folder);
  if (!check) {
    writeFileSync(file, bytes);
    console.log(`${fileURLToPath(file)}: ${deck.slides.length + 1} pages, ${bytes.length} bytes`);
  } else if (readIfThere(file)?.equals(bytes) !== true) {
    console.error(`${fileURLToPath(file)} is not what this script makes: run node scripts/make-pitchdecks.ts`);
    process.exitCode = 1;
  }
}
