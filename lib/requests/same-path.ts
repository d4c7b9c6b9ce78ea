/** A path of our own to go on to, or the inbox: no other origin, no scheme, nothing that a browser reads as one (`//`, `/\`). */
export function samePath(wanted: string | null | undefined): string {
  return wanted && /^\/(?![/\\])[^\\\s\p{Cc}]*$/u.test(wanted) ? wanted : "/inbox";
}
