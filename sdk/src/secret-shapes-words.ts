import type { JsonObject, JsonValue } from "./exact-json";

/** What the names around a value say of it; looked at only where a value is in doubt, and then remembered. */
export class Naming {
  readonly #above: Naming | undefined;
  readonly #name: string | undefined;
  readonly #holder: JsonObject;
  #isMyNumber: boolean | undefined;
  #isAnotherNumber: boolean | undefined;

  /** The naming of the member `name` of `holder`: its own name, the labels beside it, and the names above. */
  constructor(above?: Naming, name?: string, holder: JsonObject = {}) {
    this.#above = above;
    this.#name = name;
    this.#holder = holder;
  }

  /** Some name on the way to the value, or a label beside it, says "individual number". */
  isMyNumber(): boolean {
    this.#isMyNumber ??= this.#said().some(saysMyNumber) || (this.#above?.isMyNumber() ?? false);
    return this.#isMyNumber;
  }

  /** The value's own name or label says another number: of an order, an account, a parcel, a telephone. */
  isAnotherNumber(): boolean {
    const said = this.#said();
    this.#isAnotherNumber ??= said.some(saysAnotherNumber) || (said.length === 0 && this.#isAnotherNumberAbove());
    return this.#isAnotherNumber;
  }

  /** The value's own name says that it is the secret half of an AWS access key, which has no shape of its own. */
  isAwsSecret(): boolean {
    return this.#said().some((text) => awsSecretName.test(text));
  }

  #isAnotherNumberAbove(): boolean {
    return this.#above?.isAnotherNumber() ?? false;
  }

  #said(): string[] {
    const name = this.#name;
    const own = name === undefined || transparentNames.has(name) ? [] : [name.slice(0, labelMaxLength)];
    return [...own, ...labelsIn(this.#holder, name)];
  }
}

/** Whether the words speak of Japan's individual number. */
export function saysMyNumber(text: string): boolean {
  return myNumberWords.test(fold(text));
}

/** Whether the words speak of some other number that people and machines write in digits. */
export function saysAnotherNumber(text: string): boolean {
  const folded = fold(text.replace(/([a-z0-9])([A-Z])/g, "$1 $2"));
  return otherWordsLatin.test(folded.replaceAll("_", " ")) || otherWordsJapanese.test(folded);
}

const myNumberWords =
  /my[\s_-]?number|individual[\s_-]?(?:identification[\s_-]?)?number|kojin[\s_-]?(?:ban|num|no\b)|マイナンバー|個人番号/;

const otherWordsLatin = new RegExp(
  `\\b(?:${[
    "ids?|uids?|uuid|guid|key|hash|digest|sha|checksum|etag|version|build|serial|imei|token",
    "orders?|invoices?|receipts?|tickets?|case|ref|refs|reference|po|sku|upc|ean|jan|gtin|isbn|barcode|lot|model",
    "account|accounts|acct|aws|iban|bank|customer|member|membership|policy|contract",
    "phone|tel|telephone|mobile|fax|tracking|waybill|parcel|shipment|awb",
    "time|timestamp|date|datetime|at|amount|price|total|balance|bytes|size|count|quantity|qty|yen|jpy|usd|eur",
  ].join("|")})\\b`,
);

const otherWordsJapanese =
  /注文|受注|発注|伝票|送り状|追跡|問い?合わ?せ|口座|電話|請求|領収|日時|時刻|日付|金額|合計|残高|品番|型番|商品|管理番号|会員|顧客|契約|整理番号|証券|アカウント/;

const awsSecretName = /aws.{0,8}secret|secret.{0,2}access.{0,2}key/i;

/** Names that only carry a value whose meaning another name tells. */
const transparentNames: ReadonlySet<string> = new Set(["en", "ja", "value", "claimed", "actual"]);

const labelNames = ["label", "name", "key", "field"] as const;
const labelMaxLength = 200;

/** What the object says of its other members: `{ "label": "…", "value": … }`, in one language or several. */
function labelsIn(holder: JsonObject, ownName: string | undefined): string[] {
  return labelNames.flatMap((name) => (name === ownName ? [] : textsOf(holder[name])));
}

function textsOf(value: JsonValue | undefined): string[] {
  const texts = isObject(value) ? [value["en"], value["ja"]] : [value];
  return texts.filter((text) => typeof text === "string").map((text) => text.slice(0, labelMaxLength));
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Full-width letters and half-width kana as the usual ones, in lower case. */
const fold = (text: string) => text.normalize("NFKC").toLowerCase();
