/**
 * Letters of other scripts that look like an ASCII letter, each before the letter that it looks like. From confusables.txt of
 * Unicode Technical Standard #39 (https://www.unicode.org/Public/security/latest/confusables.txt), without the Greek letters
 * that are common in honest words of Latin letters (alpha, gamma, sigma).
 */
const letters: Readonly<Record<string, string>> = {
  Cyrillic:
    "ЅS Іl ЈJ АA ВB ЕE КK МM НH ОO РP СC ТT УY ХX Ьb аa гr еe оo рp сc уy хx ѕs іi јj ѡw ѴV ѵv ҮY үy һh ҽe Ӏl ӏi ԁd ԌG ԛq ԜW ԝw ꙇi",
  Greek: "ͺi ͿJ ΑA ΒB ΕE ΖZ ΗH Ιl ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ιi νv οo ρp υu ϒY ϜF ϱp ϲc ϳj ϹC ϺM",
  Armenian: "ՍU ՏS ՕO աw գq զq հh ոn ռn սu ցg քf օo",
  Cherokee: "ᎠD ᎡR ᎢT Ꭵi ᎩY ᎪA ᎫJ ᎬE ᎳW ᎷM ᎻH ᎽY ᏀG Ꮒh ᏃZ Ꮟb ᏒR ᏔW ᏕS ᏙV ᏚS ᏞL ᏟC ᏢP ᏦK Ꮷd ᏳG ᏴB ꭵi ꮁr ꮃw ꮓz ꮩv ꮪs ꮯc",
  Coptic: "ⲅr ⲎH Ⲓl ⲔK ⲘM ⲚN ⲞO ⲟo ⲢP ⲣp ⲤC ⲥc ⲦT ⲨY ⲬX ⳐL",
  Phonetic: "ɑa ɡg ɩi ɪI ʏY ᴄc ᴏo ᴑo ᴜu ᴠv ᴡw ᴢz ꜱs",
  Lisu: "ꓐB ꓑP ꓒd ꓓD ꓔT ꓖG ꓗK ꓙJ ꓚC ꓜZ ꓝF ꓟM ꓠN ꓡL ꓢS ꓣR ꓦV ꓧH ꓪW ꓫX ꓬY ꓮA ꓰE ꓲl ꓳO ꓴU",
};

/** Characters that look like the syntax of a shell, written as the letters are. From the same list. */
const signs =
  "‘' ’' ‚, ‛' ′' “\" ”\" „\" ‟\" ″\" ´' ʹ' ʼ' ‹< ›> ‐- ‑- ‒- –- —- ―- −- ﹣- ;; ∣| ǀ| ⁄/ ∕/ ∖\\ ∗* ǃ! ː: ꞉: ∶: ˜~ ∼~ ․. ‚, ꓸ. ꓹ,";

/** Spaces that a shell takes for a part of a word. */
export const oddSpace = /[\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000]/;

function pairsOf(text: string): [string, string][] {
  return text.split(" ").map((pair) => {
    const [character = "", ...like] = pair;
    return [character, like.join("")];
  });
}

export interface LookAlikeLetter {
  readonly script: string;
  readonly like: string;
}

export const lookAlikeLetters: ReadonlyMap<string, LookAlikeLetter> = new Map(
  Object.entries(letters).flatMap(([script, text]) => pairsOf(text).map(([letter, like]) => [letter, { script, like }])),
);

export const lookAlikeSigns: ReadonlyMap<string, string> = new Map(pairsOf(signs));
