import { type FolderChanges, type FolderPosition, ProviderError } from '../contract/index.ts'
import type { RestMailbox } from '../rest/index.ts'
import { ME } from './client.ts'
import { labelFolder, listLabels, parseLabel } from './folders.ts'
import { nearestColor, textColorOn } from './palette.ts'

/** Labels are flat at Gmail: a nested one has the names of its parents in its own. */
export function gmailFolderChanges(mailbox: RestMailbox): FolderChanges {
  const labelPath = (id: string) => `${ME}/labels/${encodeURIComponent(id)}`
  const patch = (id: string, body: object, doing: string) =>
    mailbox.json({ method: 'PATCH', path: labelPath(id), body, doing, isRepeatable: true }, () => undefined)

  return {
    async createFolder(position, color) {
      const body = {
        ...{ name: fullNameOf(position), labelListVisibility: 'labelShow', messageListVisibility: 'show' },
        ...(color !== undefined && { color: colorsOf(color) }),
      }
      return mailbox.json({ method: 'POST', path: `${ME}/labels`, body, doing: 'creating a label' }, (created) =>
        labelFolder(parseLabel(created)),
      )
    },

    async moveFolder({ path, fullName }, to) {
      const doing = 'renaming a label'
      const name = fullNameOf(to)
      await patch(path, { name }, doing)
      const below = (await listLabels(mailbox)).filter((label) => label.fullName?.startsWith(`${fullName}/`))
      for (const label of below) {
        await patch(label.path, { name: `${name}${label.fullName?.slice(fullName.length)}` }, doing)
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
      } as const
      await mailbox
        .json(request, () => undefined)
        .catch((error: unknown) => {
          if (!(error instanceof ProviderError) || error.kind !== 'not_found') throw error
        })
    },
  }
}

function fullNameOf({ name, parent }: FolderPosition): string {
  return parent === null ? name : `${parent.fullName}/${name}`
}

function colorsOf(color: string) {
  const backgroundColor = nearestColor(color)
  return { backgroundColor, textColor: textColorOn(backgroundColor) }
}
