import type { IncomingMessage, ServerResponse } from "node:http";

// The part of `oidc-provider` that the bench uses; the package brings no types.

export type Context = {
  req: IncomingMessage;
  method: string;
  path: string;
  status: number;
  set(name: string, value: string): void;
};

export type AdapterPayload = Record<string, unknown> & { grantId?: string; uid?: string; userCode?: string };

export type Adapter = {
  upsert(id: string, payload: AdapterPayload, expiresInSeconds: number): Promise<void>;
  find(id: string): Promise<AdapterPayload | undefined>;
  findByUid(uid: string): Promise<AdapterPayload | undefined>;
  findByUserCode(userCode: string): Promise<AdapterPayload | undefined>;
  consume(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  revokeByGrantId(grantId: string): Promise<void>;
};
export type AdapterConstructor = new (kind: string) => Adapter;

export type Grant = { addOIDCScope(scope: string): void; save(): Promise<string> };
export type BackchannelAuthenticationRequest = { accountId: string; clientId: string };

export class Provider {
  constructor(issuer: string, configuration: Record<string, unknown>);
  readonly Grant: new (
    of: BackchannelAuthenticationRequest,
  ) => Grant;
  readonly BackchannelAuthenticationRequest: {
    find(id: string): Promise<BackchannelAuthenticationRequest | undefined>;
  };
  use(middleware: (ctx: Context, next: () => Promise<void>) => Promise<void>): void;
  callback(): (req: IncomingMessage, res: ServerResponse) => Promise<void>;
  /** Saves the request with its result; the grant must be saved before. */
  backchannelResult(request: BackchannelAuthenticationRequest, result: Grant): Promise<void>;
}
