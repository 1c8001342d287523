import type { FolderMailProvider, IdMailProvider, MailChanges } from '../../../src/providers/contract/index.ts'

/** Holds the provider's response to one change of messages, which it has made, until the test releases it. */
export class HeldResponse {
  #isDue = false
  #release: (() => void) | undefined

  /** The next response is held, and none after it. */
  holdNext(): void {
    this.#isDue = true
  }

  get isHeld(): boolean {
    return this.#release !== undefined
  }

  release(): void {
    this.#release?.()
    this.#release = undefined
  }

  idMail(mail: IdMailProvider): IdMailProvider {
    return { ...mail, changes: (access) => this.#holding(mail.changes(access)) }
  }

  folderMail(mail: FolderMailProvider): FolderMailProvider {
    return { ...mail, changes: (access) => this.#holding(mail.changes(access)) }
  }

  #holding<Ref>(changes: MailChanges<Ref>): MailChanges<Ref> {
    const changeMessages: MailChanges<Ref>['changeMessages'] = async (requested) => {
      const isHeld = this.#isDue
      this.#isDue = false
      const results = await changes.changeMessages(requested)
      if (isHeld) await new Promise<void>((resolve) => (this.#release = resolve))
      return results
    }
    return { ...changes, changeMessages }
  }
}
