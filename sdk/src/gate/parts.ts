import { type ApiClient, createApiClient } from "../api-client";
import { createFormStates, type FormStates, type StateCodec } from "./form-states";
import { createNoted, type Noted } from "./noted";
import { type GateEvent, type GateOptions, readOptions, type Settings } from "./options";
import { createRepeats, type Repeats } from "./repeats";
import { createServiceIdentity, type ServiceIdentity } from "./service-identity";

/** What the parts of a gate share. */
export type GateParts<Ctx> = {
  settings: Settings<Ctx>;
  api: ApiClient;
  identity: ServiceIdentity;
  emit: (event: GateEvent) => void;
  /** The actions that a piece of work has asked approval for. */
  asked: Noted<string>;
  /** What a piece of work has read that others wrote. */
  reads: Noted<string>;
  forms: FormStates;
  repeats: Repeats;
};

const READS_REMEMBERED = 20;
const ASKS_REMEMBERED = 1000;

/**
 * Makes what one gate consists of. What it keeps between calls is public keys and, as advice, counts; any replica can serve any round of
 * an approval.
 * @throws RangeError or TypeError for options of the wrong form
 */
export function createParts<Ctx>(options: GateOptions<Ctx>, codec: StateCodec | undefined): GateParts<Ctx> {
  const settings = readOptions(options);
  return {
    settings,
    api: createApiClient(options),
    identity: createServiceIdentity(options),
    asked: createNoted(settings.workflowSeconds, ASKS_REMEMBERED),
    reads: createNoted(settings.workflowSeconds, READS_REMEMBERED),
    forms: createFormStates(codec),
    repeats: createRepeats(),
    emit: (event) => {
      try {
        options.onEvent?.(event);
      } catch {
        // An observer has no say in what runs.
      }
    },
  };
}
