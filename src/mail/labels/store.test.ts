import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { eraseLabels, labelStore, newLabelRow } from './store.ts'

describeEachDatabase('the labels of a deleted account', (open) => {
  it('are erased in steps of the limit, without those of other accounts', async () => {
    const db = await open()
    const rows = ['acc_a', 'acc_b'].flatMap((accountId) =>
      ['INBOX', 'Sent', 'Work'].map((path) =>
        newLabelRow(
          { path, name: path, delimiter: '/', role: null, selectable: true, mailboxId: null },
          { id: `lbl_${accountId}_${path}`, accountId, provider: 'imap', nowMs: 1 },
        ),
      ),
    )
    await db.transaction((tx) => labelStore(tx).insert(rows))
    const erase = () => db.transaction((tx) => eraseLabels(tx, 'acc_a', 2))
    expect([await erase(), await erase(), await erase()]).toEqual([2, 1, 0])
    expect(await labelStore(db.read).all('acc_a')).toEqual([])
    expect(await labelStore(db.read).all('acc_b')).toHaveLength(3)
  })
})
