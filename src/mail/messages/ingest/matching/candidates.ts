import { compiledOnce, type Handle } from '../../../../platform/db/index.ts'
import { inChunks } from '../../rows/located-messages.ts'
import { formerIdentityHash, parseFields } from '../../rows/row.ts'
import type { MatchableRow } from './copies.ts'
import type { Candidate, MatchKeys } from './match.ts'

export const CANDIDATE_COLUMNS = [
  'id',
  'folderId',
  'uidValidity',
  'uid',
  'goneAt',
  'apiChange',
  'emailIdHash',
  'identityHash',
  'headerHash',
  'traceHash',
  'sizeBytes',
] as const

const candidatesBy = {
  emailIdHash: compileQuery('emailIdHash'),
  identityHash: compileQuery('identityHash'),
  headerHash: compileQuery('headerHash'),
}

function compileQuery(key: keyof MatchKeys) {
  return compiledOnce((handle, accountId: string, hashes: readonly string[]) =>
    handle.selectFrom('messages').select(CANDIDATE_COLUMNS).where('accountId', '=', accountId).where(key, 'in', hashes),
  )
}

/** Rows of the account that share a key with one of these messages; includes missing messages. */
export async function findCandidates(
  handle: Handle,
  accountId: string,
  messages: readonly MatchableRow[],
): Promise<Candidate[]> {
  const found = new Map<string, Candidate>()
  const formerHashes = formerIdentityHashes(messages)
  const identityHashes = [...messages.map((message) => message.identityHash), ...formerHashes.keys()]
  const wanted = {
    emailIdHash: messages.map((message) => message.emailIdHash),
    identityHash: identityHashes,
    headerHash: messages.map((message) => message.headerHash),
  }
  for (const key of ['emailIdHash', 'identityHash', 'headerHash'] as const) {
    const values = [...new Set(wanted[key].flatMap((value) => value ?? []))]
    const rows = await inChunks(values, (chunk) => candidatesBy[key](handle, accountId, chunk))
    for (const row of rows) {
      const identityHash = formerHashes.get(row.identityHash ?? '') ?? row.identityHash
      found.set(row.id, { ...row, identityHash })
    }
  }
  return [...found.values()]
}

/** The hashes of rows that earlier versions stored, with what they are now. */
function formerIdentityHashes(messages: readonly MatchableRow[]): Map<string, string> {
  const hashes = new Map<string, string>()
  for (const { identityHash, sizeBytes, receivedAt, fields } of messages) {
    const former = formerIdentityHash({ messageId: parseFields(fields).messageId, receivedAt }, sizeBytes)
    if (former !== null && identityHash !== null) hashes.set(former, identityHash)
  }
  return hashes
}
