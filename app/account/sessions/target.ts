/** What the token of a form that ends a session is bound to. `name` is that of `nameOfSession`: no page holds a `sid`. */
export const endTarget = (name: string) => `session:${name}`;

/** Of the form that ends all but the current one. */
export const endOthersTarget = "sessions:others";
