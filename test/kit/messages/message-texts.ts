import { storedText } from '../../../src/mail/messages/api.ts'
import { messageStore } from '../../../src/mail/messages/index.ts'
import type { Db } from '../../../src/platform/db/index.ts'

/** Throws unless the stored text of every listed message is what its rows make. */
export async function checkStoredTexts(db: Db): Promise<void> {
  for (let after = ''; ; ) {
    const rows = await db.read
      .selectFrom('messages')
      .innerJoin('messageTexts', 'messageTexts.messageId', 'messages.id')
      .selectAll('messages')
      .select(['messageTexts.text as stored', 'messageTexts.folderId as storedFolderId'])
      .where('messages.id', '>', after)
      .where('messages.id', 'in', (listed) => listed.selectFrom('messageLabels').select('messageId'))
      .orderBy('messages.id')
      .limit(500)
      .execute()
    const labels = await messageStore(db.read).labelIds(rows.map((row) => row.id))
    for (const { stored, storedFolderId, ...row } of rows) {
      const expected = storedText(row, labels.get(row.id) ?? [])
      if (stored === expected && storedFolderId === row.folderId) continue
      const found = `${storedFolderId} ${stored}\ninstead of\n${row.folderId} ${expected}`
      throw new Error(`The stored text of ${row.id} is outdated:\n${found}`)
    }
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.id
  }
}
