import { describe, expect, it } from 'vitest'
import { spentCpuMs } from '../../../test/kit/measure/event-loop.ts'
import type { RemoteFolder } from '../../providers/contract/index.ts'
import { type LabelRow, newLabelRow, planFolders } from '../labels/index.ts'
import { chooseSyncedFolders, renameCandidates } from './folder-listing.ts'

function folder(path: string, changes: Partial<RemoteFolder> = {}): RemoteFolder {
  const name = path.split('/').at(-1) ?? path
  return { path, name, delimiter: '/', role: null, selectable: true, mailboxId: null, ...changes }
}

function label(path: string, changes: Partial<LabelRow> = {}): LabelRow {
  return {
    ...newLabelRow(folder(path), { id: `lbl_${path}`, accountId: 'acc_1', provider: 'imap', nowMs: 1 }),
    ...changes,
  }
}

describe('planFolders', () => {
  it('matches folders by MAILBOXID before their names, so that swapped names are two renames', () => {
    const labels = [label('A', { mailboxId: '1' }), label('B', { mailboxId: '2' })]
    const plan = planFolders(labels, [folder('A', { mailboxId: '2' }), folder('B', { mailboxId: '1' })])
    expect(plan.kept.map((pair) => [pair.label.id, pair.folder.path])).toEqual([
      ['lbl_B', 'A'],
      ['lbl_A', 'B'],
    ])
    expect([plan.appeared, plan.vanished]).toEqual([[], []])
  })

  it('never matches another folder with INBOX', () => {
    const plan = planFolders(
      [label('INBOX', { mailboxId: '1' })],
      [folder('INBOX', { mailboxId: '9' }), folder('Old', { mailboxId: '1' })],
    )
    expect(plan.kept.map((pair) => pair.folder.path)).toEqual(['INBOX'])
    expect(plan.appeared.map((folder) => folder.path)).toEqual(['Old'])
  })

  it('lists possible renames unless the MAILBOXIDs differ, the same last name first', () => {
    const plan = planFolders([label('A/x'), label('B')], [folder('C'), folder('D/x'), folder('E', { mailboxId: '5' })])
    expect([...renameCandidates(plan)].map((pair) => `${pair.label.providerId} ${pair.folder.path}`)[0]).toBe('A/x D/x')
    expect([
      ...renameCandidates(planFolders([label('A', { mailboxId: '1' })], [folder('B', { mailboxId: '2' })])),
    ]).toEqual([])
  })

  it('handles ten thousand folders that were all replaced', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => index)
    const spentMs = await spentCpuMs(() => {
      const plan = planFolders(
        many.map((index) => label(`old ${index}`)),
        many.map((index) => folder(`new ${index}`)),
      )
      const [first] = renameCandidates(plan)
      expect(first).toMatchObject({ label: { providerId: 'old 0' }, folder: { path: 'new 0' } })
    })
    // 0.1 s is usual. All pairs would take gigabytes.
    expect(spentMs).toBeLessThan(3000)
  })
})

describe('chooseSyncedFolders', () => {
  const choose = (labels: LabelRow[], folders: RemoteFolder[], mailbox = 'INBOX', extra: string[] = []) => {
    const plan = planFolders(labels, folders)
    const pairs = [...chooseSyncedFolders(plan.kept, plan.appeared, mailbox, extra)]
    return Object.fromEntries(pairs.map(([folder, reason]) => [folder.path, reason]))
  }

  const everyRole = [
    folder('INBOX', { role: 'inbox' }),
    folder('Gesendet', { role: 'sent' }),
    folder('Entwürfe', { role: 'drafts' }),
    folder('Archiv', { role: 'archive' }),
    folder('Werbung', { role: 'junk' }),
    folder('Papierkorb', { role: 'trash' }),
    folder('Alle', { role: 'all' }),
    folder('Work'),
    folder('Other'),
  ]

  it('chooses the main folder, those with a role that moves use, and the configured folders', () => {
    expect(choose([], everyRole, 'inbox', ['Work', 'Missing'])).toEqual({
      INBOX: 'main:inbox',
      Gesendet: 'sent',
      Entwürfe: 'drafts',
      Archiv: 'archive',
      Werbung: 'junk',
      Papierkorb: 'trash',
      Work: 'folder:Work',
    })
  })

  it('chooses no folder by its role when the configuration says "own"', () => {
    expect(choose([], everyRole, 'INBOX', ['own'])).toEqual({ INBOX: 'main:INBOX' })
    expect(choose([], everyRole, 'INBOX', ['own', 'Work'])).toEqual({ INBOX: 'main:INBOX', Work: 'folder:Work' })
  })

  it('keeps a renamed folder until another folder has its configured name', () => {
    const renamed = label('Projects', { syncedAs: 'folder:Work' })
    expect(choose([renamed], [folder('INBOX'), folder('Projects')], 'INBOX', ['Work']).Projects).toBe('folder:Work')
    const both = choose([renamed], [folder('INBOX'), folder('Projects'), folder('Work')], 'INBOX', ['Work'])
    expect(both).toEqual({ INBOX: 'main:INBOX', Work: 'folder:Work' })
  })

  it('never chooses a folder that cannot hold messages', () => {
    expect(choose([], [folder('INBOX'), folder('Work', { selectable: false })], 'INBOX', ['Work'])).toEqual({
      INBOX: 'main:INBOX',
    })
  })
})
