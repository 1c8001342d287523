import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ChangedMessage, type MailEdits, type MessageChange, ProviderError } from '../contract/index.ts'

/** A mailbox with a second client, whose methods take effect at once. */
export interface EditsFixture<Ref> {
  edits: MailEdits<Ref>
  /** Paths of folders or labels that every mailbox has. */
  inbox: string
  trash: string
  /** Delivers to the inbox, unread. */
  deliver(subject: string): Promise<Ref>
  /** Returns its path. */
  createFolder(name: string): Promise<string>
  /** The location of a message after a change; undefined where the provider did not report it. */
  findRef(before: Ref, changed: ChangedMessage): Ref | undefined
  /** Describes a message as another client sees it: `INBOX unread starred`, sorted folders first. Undefined: no such message. */
  seen(subject: string): Promise<string | undefined>
  /** The full names of all folders or labels that another client sees. */
  folders(): Promise<string[]>
  /** Whether folders have colours. */
  hasColors: boolean
  /** Whether a message that does not exist counts as deleted. */
  deletesMissing: boolean
  /** The path of a folder after it got this full name. */
  pathAfter(path: string, fullName: string): string
  /** Makes all later requests fail. */
  break(): Promise<void>
  stop(): Promise<void>
}

/** The contract of `MailEdits`. Runs for every provider, and reads each change back with another client. */
export function editsConformance<Ref>(name: string, open: () => Promise<EditsFixture<Ref>>): void {
  describe(`${name} implements the contract of changes`, () => {
    let box: EditsFixture<Ref>
    beforeEach(async () => {
      box = await open()
    })
    afterEach(() => box.stop())

    async function change(edit: MessageChange<Ref>): Promise<ChangedMessage> {
      const [result] = await box.edits.changeMessages([edit])
      if (result === undefined || result instanceof ProviderError) throw result ?? new Error('no result')
      return result
    }

    it('sets and clears flags, and repeats that without an error', async () => {
      const message = await box.deliver('flags')
      for (let times = 0; times < 2; times += 1) {
        expect(await change({ message, unread: false, starred: true })).toMatchObject({ unread: false, starred: true })
        expect(await box.seen('flags')).toMatch(/ read starred$/)
      }
      expect(await change({ message, starred: false })).toMatchObject({ unread: false, starred: false })
      expect(await change({ message, unread: true })).toMatchObject({ unread: true, starred: false })
      expect(await box.seen('flags')).toBe(`${box.inbox} unread`)
    })

    it('returns the current state for a change of nothing', async () => {
      const message = await box.deliver('same')
      expect(await change({ message })).toMatchObject({ unread: true, starred: false, folders: [box.inbox] })
    })

    it('moves a message with its flags, and back from where it says the message is', async () => {
      const message = await box.deliver('moved')
      const target = await box.createFolder('Größe & Maß')
      const moved = await change({ message, unread: false, add: [target], remove: [box.inbox] })
      expect(moved).toMatchObject({ unread: false, starred: false, folders: [target] })
      expect(await box.seen('moved')).toBe(`${target} read`)
      const changed = box.findRef(message, moved)
      if (changed === undefined) return
      const back = await change({ message: changed, add: [box.inbox], remove: [target] })
      expect(back).toMatchObject({ unread: false, folders: [box.inbox] })
      expect(await box.seen('moved')).toBe(`${box.inbox} read`)
    })

    it('moves a message to the trash', async () => {
      const message = await box.deliver('binned')
      expect(await change({ message, add: [box.trash], remove: [box.inbox] })).toMatchObject({ folders: [box.trash] })
      expect(await box.seen('binned')).toBe(`${box.trash} unread`)
    })

    it('leaves a message in the folder that it is moved to', async () => {
      const message = await box.deliver('stays')
      expect(await change({ message, add: [box.inbox] })).toMatchObject({ folders: [box.inbox] })
      expect(await box.seen('stays')).toBe(`${box.inbox} unread`)
    })

    it('returns a result for each message in order, not_found for one that does not exist', async () => {
      const subjects = Array.from({ length: 60 }, (_, n) => `many ${n}`)
      const refs: Ref[] = []
      for (const subject of subjects) refs.push(await box.deliver(subject))
      const [gone] = refs.splice(30, 1)
      subjects.splice(30, 1)
      if (gone === undefined) throw new Error('nothing was delivered')
      await box.edits.deleteMessages([gone])
      const changes = [...refs.slice(0, 30), gone, ...refs.slice(30)].map((message, n) => ({
        message,
        unread: n % 2 === 0,
      }))
      const results = await box.edits.changeMessages(changes)
      expect(results).toHaveLength(60)
      expect(results[30]).toMatchObject({ name: 'ProviderError', kind: 'not_found' })
      results.forEach((result, n) => {
        if (n !== 30) expect(result).toMatchObject({ unread: n % 2 === 0 })
      })
      expect(await box.seen('many 1')).toBe(`${box.inbox} read`)
      expect(await box.seen('many 59')).toBe(`${box.inbox} read`)
    })

    it('deletes messages for good, and no others', async () => {
      const [message, other] = [await box.deliver('deleted'), await box.deliver('kept')]
      expect(await box.edits.deleteMessages([message])).toEqual(['deleted'])
      expect(await box.seen('deleted')).toBeUndefined()
      expect(await box.seen('kept')).toBe(`${box.inbox} unread`)
      const [again, rest] = await box.edits.deleteMessages([message, other])
      if (box.deletesMissing) expect(again).toBe('deleted')
      else expect(again).toMatchObject({ kind: 'not_found' })
      expect(rest).toBe('deleted')
      expect(await box.seen('kept')).toBeUndefined()
    })

    it('creates, renames and deletes folders, and refuses a name that is taken', async () => {
      const { edits } = box
      const parent = await edits.createFolder({ name: 'Größe & Maß', parent: null }, '#16a766')
      expect(parent).toMatchObject({ name: 'Größe & Maß', role: null, selectable: true })
      const top = { path: parent.path, fullName: 'Größe & Maß' }
      const child = await edits.createFolder({ name: 'Zwei', parent: top })
      expect(child).toMatchObject({ name: 'Zwei' })
      expect(await box.folders()).toEqual(expect.arrayContaining(['Größe & Maß', 'Größe & Maß/Zwei']))
      const taken = { name: 'ProviderError', kind: 'exists' }
      await expect(edits.createFolder({ name: 'Zwei', parent: top })).rejects.toMatchObject(taken)

      expect(await edits.moveFolder(top, { name: 'Eins', parent: null })).toBe(box.pathAfter(parent.path, 'Eins'))
      expect(await box.folders()).toEqual(expect.arrayContaining(['Eins', 'Eins/Zwei']))
      const renamed = { path: box.pathAfter(parent.path, 'Eins'), fullName: 'Eins' }
      const second = { path: box.pathAfter(child.path, 'Eins/Zwei'), fullName: 'Eins/Zwei' }
      const at = await edits.moveFolder(second, { name: 'Zwei', parent: null })
      expect(await box.folders()).toEqual(expect.arrayContaining(['Eins', 'Zwei']))
      await expect(
        edits.moveFolder({ path: at, fullName: 'Zwei' }, { name: 'Eins', parent: null }),
      ).rejects.toMatchObject(taken)
      expect(await edits.colorFolder(renamed, '#16a760')).toBe(box.hasColors ? '#16a765' : null)

      for (const folder of [renamed, { path: at, fullName: 'Zwei' }, renamed]) await edits.deleteFolder(folder)
      expect((await box.folders()).filter((name) => /^(Eins|Zwei)/.test(name))).toEqual([])
    })

    it('returns the failure for every message, and does not reject', async () => {
      const refs = [await box.deliver('one'), await box.deliver('two')]
      await box.break()
      const failed = { name: 'ProviderError', kind: expect.stringMatching(/^(unavailable|auth_expired)$/) }
      expect(await box.edits.changeMessages(refs.map((message) => ({ message, unread: false })))).toMatchObject([
        failed,
        failed,
      ])
      expect(await box.edits.deleteMessages(refs)).toMatchObject([failed, failed])
    })
  })
}
