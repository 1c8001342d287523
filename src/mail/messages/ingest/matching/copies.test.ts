import { expect, it } from 'vitest'
import { databases } from '../../../../../test/kit/database/database.ts'
import { messageRow } from '../../../../../test/kit/messages/message-row.ts'
import { idGenerator } from '../../../../platform/ids.ts'
import { systemClock } from '../../../../platform/time/clock.ts'
import { messageWriter } from '../../rows/writer.ts'
import { copyCandidates } from './copies.ts'

const open = databases('sqlite')
const MESSAGES = 450
const BATCH = 150

it('finds the original of a copy in a thread of any length', async () => {
  const db = await open()
  const ids = idGenerator(systemClock)
  const rows = Array.from({ length: MESSAGES }, (_, n) => reply(ids('msg'), n))
  for (let start = 0; start < MESSAGES; start += BATCH) {
    await db.transaction(async (tx) => {
      const writer = messageWriter(tx, { dialect: db.dialect, accountId: 'acc_1', nowMs: 1 })
      await writer.insert(rows.slice(start, start + BATCH))
    })
  }
  for (const row of [rows[0], rows.at(-1)]) {
    if (row === undefined) throw new Error('there is no such row')
    const found = await copyCandidates(db.read, 'acc_1', [row])
    expect(found.map(({ id }) => id)).toEqual([row.id])
  }
})

/** A message of one long conversation. Each was delivered by itself. */
function reply(id: string, number: number) {
  const row = messageRow(id, number + 1)
  const fields = { ...JSON.parse(row.fields), messageId: `<${number}@x>`, references: ['<root@x>'] }
  return { ...row, fields: JSON.stringify(fields), traceHash: `trace ${number}`, receivedAt: number }
}
