import type { FolderMailProvider, IdMailProvider, MailEdits } from '../../../src/providers/contract/index.ts'

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
    return { ...mail, edits: (access) => this.#holding(mail.edits(access)) }
  }

  folderMail(mail: FolderMailProvider): FolderMailProvider {
    return { ...mail, edits: (access) => this.#holding(mail.edits(access)) }
  }

  #holding<Ref>(edits: MailEdits<Ref>): MailEdits<Ref> {
    const changeMessages: MailEdits<Ref>['changeMessages'] = async (requested) => {
      const isHeld = this.#isDue
      this.#isDue = false
      const results = await edits.changeMessages(requested)
      if (isHeld) await new Promise<void>((resolve) => (this.#release = resolve))
      return results
    }
    return { ...edits, changeMessages }
  }
}
