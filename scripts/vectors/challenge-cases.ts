import type { DecisionClaims } from "@countersign/mcp/decision-challenge";

/** What a person signs with a passkey, and its canonical text: written by hand, by the rules of RFC 8785. */
export type ChallengeCase = { name: string; claims: DecisionClaims; canonicalText: string };

const claims: DecisionClaims = {
  approvalId: "apr_0123456789abcdefghjkmnpqrs",
  decision: "accept",
  actionDigest: "sha256:616cc9e38a106e6ae8b67d12eaebf16bb3607b8062b1befa354090bd8440aeb7",
  viewDigest: "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
  subject: { iss: "https://as.example.com", sub: "user_456" },
  iss: "https://countersign.example.com",
  clientId: "cli_crm",
  iat: 1_793_872_810,
  nonce: "AAECAwQFBgcICQoLDA0ODw",
};

const head =
  '{"actionDigest":"sha256:616cc9e38a106e6ae8b67d12eaebf16bb3607b8062b1befa354090bd8440aeb7","approvalId":"apr_0123456789abcdefghjkmnpqrs","clientId":"cli_crm","ctx":"countersign/decision/1","decision":"accept",';
const tail = '"viewDigest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"}';

export const challengeCases: readonly ChallengeCase[] = [
  {
    name: "a person of another issuer",
    claims,
    canonicalText: `${head}"iat":1793872810,"iss":"https://countersign.example.com","nonce":"AAECAwQFBgcICQoLDA0ODw","sub_id":{"format":"iss_sub","iss":"https://as.example.com","sub":"user_456"},${tail}`,
  },
  {
    name: "a local account, a second later, with another nonce",
    claims: {
      ...claims,
      subject: { iss: claims.iss, sub: "usr_0123456789abcdefghjkmnpqrs" },
      iat: 1_793_872_811,
      nonce: "__________________8",
    },
    canonicalText: `${head}"iat":1793872811,"iss":"https://countersign.example.com","nonce":"__________________8","sub_id":{"format":"iss_sub","iss":"https://countersign.example.com","sub":"usr_0123456789abcdefghjkmnpqrs"},${tail}`,
  },
  {
    name: "a subject that needs escapes and more than ASCII",
    claims: { ...claims, subject: { iss: "https://as.example.com/", sub: '\u00e9\u{1f600}"\\/\n' } },
    canonicalText: `${head}"iat":1793872810,"iss":"https://countersign.example.com","nonce":"AAECAwQFBgcICQoLDA0ODw","sub_id":{"format":"iss_sub","iss":"https://as.example.com/","sub":"\u00e9\u{1f600}\\"\\\\/\\n"},${tail}`,
  },
];
