import { type FolderEdits, type FolderPosition, ProviderError } from '../contract/index.ts'
import { ME } from './client.ts'
import { labelFolder, listLabels, parseLabel } from './folders.ts'
import type { GmailMailbox } from './quota.ts'

/** Labels are flat at Gmail: a nested one has the names of its parents in its own. */
export function gmailFolderEdits(mailbox: GmailMailbox): FolderEdits {
  const labelPath = (id: string) => `${ME}/labels/${encodeURIComponent(id)}`
  const cost = { cost: mailbox.costs.label }
  const rename = (id: string, name: string) => orTaken(patch(id, { name }, 'renaming a label'))
  const patch = (id: string, body: object, doing: string) =>
    mailbox.json({ method: 'PATCH', path: labelPath(id), body, doing, isRepeatable: true, ...cost }, () => undefined)

  return {
    async createFolder(position, color) {
      const body = {
        name: buildFullName(position),
        labelListVisibility: 'labelShow',
        messageListVisibility: 'show',
        ...(color !== undefined && { color: buildColors(color) }),
      }
      const request = { method: 'POST', path: `${ME}/labels`, body, doing: 'creating a label', ...cost } as const
      return orTaken(mailbox.json(request, (created) => labelFolder(parseLabel(created))))
    },

    async moveFolder({ path, fullName }, to) {
      const name = buildFullName(to)
      await rename(path, name)
      const below = (await listLabels(mailbox)).filter((label) => label.fullName?.startsWith(`${fullName}/`))
      for (const label of below) {
        await rename(label.path, `${name}${label.fullName?.slice(fullName.length)}`)
      }
      return path
    },

    async colorFolder({ path }, color) {
      await patch(path, { color: color === null ? null : buildColors(color) }, 'colouring a label')
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

function buildFullName({ name, parent }: FolderPosition): string {
  return parent === null ? name : `${parent.fullName}/${name}`
}

function buildColors(color: string) {
  const backgroundColor = nearestColor(color)
  return { backgroundColor, textColor: textColorOn(backgroundColor) }
}

/** The only colours that Gmail's API accepts for labels. */
const PALETTE = `
000000 434343 666666 999999 cccccc efefef f3f3f3 ffffff fb4c2f ffad47 fad165 16a766 43d692 4a86e8 a479e2 f691b3 f6c5be ffe6c7
fef1d1 b9e4d0 c6f3de c9daf8 e4d7f5 fcdee8 efa093 ffd6a2 fce8b3 89d3b2 a0eac9 a4c2f4 d0bcf1 fbc8d9 e66550 ffbc6b fcda83 44b984
68dfa9 6d9eeb b694e8 f7a7c0 cc3a21 eaa041 f2c960 149e60 3dc789 3c78d8 8e63ce e07798 ac2b16 cf8933 d5ae49 0b804b 2a9c68 285bac
653e9b b65775 822111 a46a21 aa8831 076239 1a764d 1c4587 41236d 83334c 464646 e7e7e7 0d3472 b6cff5 0d3b44 98d7e4 3d188e e3d7ff
711a36 fbd3e0 8a1c0a f2b2a8 7a2e0b ffc8af 7a4706 ffdeb5 594c05 fbe983 684e07 fdedc1 0b4f30 b3efd3 04502e a2dcc1 c2c2c2 4986e7
2da2bb b99aff 994a64 f691b2 ff7537 ffad46 662e37 ebdbde cca6ac 094228 42d692 16a765`
  .trim()
  .split(/\s+/)
  .map((hex) => `#${hex}`)

/** The colour of the palette that looks most like it. `color` is `#rrggbb`. */
function nearestColor(color: string): string {
  return PALETTE.reduce((best, candidate) => (distance(candidate, color) < distance(best, color) ? candidate : best))
}

function textColorOn(background: string): string {
  const [red, green, blue] = channels(background)
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? '#000000' : '#ffffff'
}

/** Weighted by how well people see a difference of each channel. */
function distance(one: string, other: string): number {
  const [red, green, blue] = channels(one)
  const [otherRed, otherGreen, otherBlue] = channels(other)
  return 2 * (red - otherRed) ** 2 + 4 * (green - otherGreen) ** 2 + 3 * (blue - otherBlue) ** 2
}

function channels(color: string): [red: number, green: number, blue: number] {
  const number = Number.parseInt(color.slice(1), 16)
  return [number >> 16, (number >> 8) & 255, number & 255]
}
