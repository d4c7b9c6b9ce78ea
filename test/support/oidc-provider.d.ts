/** The part of `oidc-provider` that the tests use; the package brings no types. */
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  export type Context = {
    req: IncomingMessage;
    res: ServerResponse;
    method: string;
    path: string;
    query: Record<string, string | string[] | undefined>;
    status: number;
    type: string;
    body: unknown;
    oidc: {
      client: { clientId: string; subjectType?: string };
      session: { accountId: string };
      provider: Provider;
    };
  };
  export type Grant = {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  };
  export type Interaction = { uid: string; params: Record<string, string>; prompt: { name: string } };

  export class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>);
    readonly Grant: new (of: {
      clientId: string;
      accountId: string;
    }) => Grant;
    use(middleware: (ctx: Context, next: () => Promise<void>) => Promise<void>): void;
    listen(port: number, host: string, done: () => void): unknown;
    interactionDetails(req: IncomingMessage, res: ServerResponse): Promise<Interaction>;
    interactionFinished(req: IncomingMessage, res: ServerResponse, result: Record<string, unknown>): Promise<void>;
    on(event: string, listener: (...args: unknown[]) => void): void;
  }
}
