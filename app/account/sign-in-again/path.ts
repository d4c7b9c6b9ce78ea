/** The page that asks for a fresh sign-in, and leads on to a path of ours. */
export const signInAgainPath = (to: string) => `/account/sign-in-again?to=${encodeURIComponent(to)}`;
