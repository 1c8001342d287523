/**
 * A process that syncs the contacts of accounts, learns people from messages, and makes changes through the API until it is killed.
 * Arguments: data folder, database URL or '', settings in JSON, changes in JSON, and after how many milliseconds without a heartbeat
 * instances are dead. Prints `started`, and `done <key>` after each change.
 */

import { accountAliases, peopleLearner } from '../../../src/contacts/index.ts'
import { AppError } from '../../../src/platform/errors/app-error.ts'
import type { ContactChange } from '../../scenarios/contact-crashes.ts'
import { openDatabase } from '../database/open-database.ts'
import { compose } from '../service/composition.ts'

const [dataDir = '', databaseUrl = '', settings = '{}', changes = '[]', deadAfterMs = '400'] = process.argv.slice(2)
const db = openDatabase({ dataDir, databaseUrl })
const { context, features } = compose(db, {
  settings: JSON.parse(settings),
  features: {
    ownership: { roundMs: 100, deadAfterMs: Number(deadAfterMs), settleMs: 0, soleProcess: databaseUrl === '' },
    contacts: { pollMs: 300, retry: { baseMs: 20, capMs: 200 } },
  },
})
features.contactRuns.start()
await features.ownership.start()
// Only the process that stores messages here makes ids, so none has to settle.
const aliases = accountAliases({ ...context, accounts: features.accounts, sending: features.mailboxes.sending })
peopleLearner({ ...context, db, aliases, timing: { everyMs: 20, settledMs: -60_000 } }).start()
process.stdout.write('started\n')
await Promise.all((JSON.parse(changes) as ContactChange[]).map(change))

/** What a caller repeats until it is accepted. */
async function change({ accountId, key, displayName, deletedId }: ContactChange): Promise<void> {
  const { contactChanges } = features
  const save = await contactChanges.create(accountId, { displayName }, key)
  const { id } = await db.transaction(save)
  await contactChanges.update(accountId, id, { jobTitle: 'changed' }, undefined)
  await contactChanges.remove(accountId, deletedId).catch((error: unknown) => {
    // The process was killed after it had deleted the contact.
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error
  })
  process.stdout.write(`done ${key}\n`)
}
