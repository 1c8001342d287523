import { type FolderChanges, type FolderPosition, ProviderError } from '../contract/index.ts'
import { ME } from './client.ts'
import { labelFolder, listLabels, parseLabel } from './folders.ts'
import { nearestColor, textColorOn } from './palette.ts'
import type { GmailMailbox } from './quota.ts'

/** Labels are flat at Gmail: a nested one has the names of its parents in its own. */
export function gmailFolderChanges(mailbox: GmailMailbox): FolderChanges {
  const labelPath = (id: string) => `${ME}/labels/${encodeURIComponent(id)}`
  const cost = { cost: mailbox.costs.label }
  const rename = (id: string, name: string) => orTaken(patch(id, { name }, 'renaming a label'))
  const patch = (id: string, body: object, doing: string) =>
    mailbox.json({ method: 'PATCH', path: labelPath(id), body, doing, isRepeatable: true, ...cost }, () => undefined)

  return {
    async createFolder(position, color) {
      const body = {
        name: fullNameOf(position),
        labelListVisibility: 'labelShow',
        messageListVisibility: 'show',
        ...(color !== undefined && { color: colorsOf(color) }),
      }
      const request = { method: 'POST', path: `${ME}/labels`, body, doing: 'creating a label', ...cost } as const
      return orTaken(mailbox.json(request, (created) => labelFolder(parseLabel(created))))
    },

    async moveFolder({ path, fullName }, to) {
      const name = fullNameOf(to)
      await rename(path, name)
      const below = (await listLabels(mailbox)).filter((label) => label.fullName?.startsWith(`${fullName}/`))
      for (const label of below) {
        await rename(label.path, `${name}${label.fullName?.slice(fullName.length)}`)
      }
      return path
    },

    async colorFolder({ path }, color) {
      await patch(path, { color: color === null ? null : colorsOf(color) }, 'colouring a label')
      return color === null ? null : nearestColor(color)
    },

    async deleteFolder({ path }) {
      const request = {
        method: 'DELETE',
        path: labelPath(path),
        doing: 'deleting a label',
        isRepeatable: true,
        ...cost,
      } as const
      await mailbox
        .json(request, () => undefined)
        .catch((error: unknown) => {
          if (!(error instanceof ProviderError) || error.kind !== 'not_found') throw error
        })
    },
  }
}

/** A label's name is all that Gmail says 409 about here. */
async function orTaken<T>(request: Promise<T>): Promise<T> {
  try {
    return await request
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind !== 'conflict') throw error
    throw new ProviderError('exists', 'saving a label: the name is taken', { cause: error })
  }
}

function fullNameOf({ name, parent }: FolderPosition): string {
  return parent === null ? name : `${parent.fullName}/${name}`
}

function colorsOf(color: string) {
  const backgroundColor = nearestColor(color)
  return { backgroundColor, textColor: textColorOn(backgroundColor) }
}
