import type { Part } from '../tree/part.ts'

/** The parts of a message that are shown as text, and those that a person could save. */
export interface BodyPlan {
  /** The parts that make the plain text, in order. HTML parts are those of which no plain text exists. */
  text: readonly Part[]
  /** The parts that make the HTML, in order. Plain ones are those of which no HTML exists. */
  html: readonly Part[]
  /** In order. Whether the HTML shows one, only the HTML says. */
  files: readonly FilePart[]
}

interface FilePart {
  part: Part
  /** It lies beside HTML in a `multipart/related`. */
  isRelated: boolean
}

/**
 * Chooses by the tree, as mail programs do and RFC 8621 4.1.4 describes: the parts of a mixed follow each other, one alternative is
 * shown, a related shows its root. A text with a file name is a file, unless it is all that could be the body.
 */
export function bodyPlan(root: Part): BodyPlan {
  const plan = planBody(root)
  if (plan.text.length > 0 || plan.html.length > 0) return plan
  const body = onlyText(plan.files)
  if (body === undefined) return plan
  return {
    text: [body],
    html: [body],
    files: plan.files.filter(({ part }) => part !== body),
  }
}

function planBody(part: Part): BodyPlan {
  if (!part.type.startsWith('multipart/')) return leafPlan(part)
  if (part.type === 'multipart/alternative') return alternativePlan(part)
  if (part.type === 'multipart/related') return relatedPlan(part)
  return joined(part.children.map(planBody))
}

function leafPlan(part: Part): BodyPlan {
  if (isText(part) && part.filename === undefined) return { text: [part], html: [part], files: [] }
  return { text: [], html: [], files: [{ part, isRelated: false }] }
}

function joined(plans: readonly BodyPlan[]): BodyPlan {
  return {
    text: plans.flatMap(({ text }) => text),
    html: plans.flatMap(({ html }) => html),
    files: plans.flatMap(({ files }) => files),
  }
}

/** The last alternative of each kind is the best one. Others are shown by nobody, unless a person could save them. */
function alternativePlan({ children }: Part): BodyPlan {
  const plans = children.map((child) => (isText(child) ? { text: [child], html: [child], files: [] } : planBody(child)))
  const plain = plans.findLast(({ text }) => text.some(({ type }) => type === 'text/plain'))
  const rich = plans.findLast(({ html }) => html.some(({ type }) => type === 'text/html'))
  return {
    text: (plain ?? rich)?.text ?? [],
    html: (rich ?? plain)?.html ?? [],
    files: plans.flatMap(({ files }) => files).filter(({ part }) => !isOtherForm(part)),
  }
}

/** Another form of the text, such as AMP or that for a watch. Invitations come as an alternative, too, and are files. */
function isOtherForm({ type, filename, disposition }: Part): boolean {
  return type.startsWith('text/') && type !== 'text/calendar' && filename === undefined && disposition !== 'attachment'
}

function relatedPlan({ children, start }: Part): BodyPlan {
  const root = children.find(({ contentId }) => start !== undefined && contentId === start) ?? children.find(isShown)
  const others = children.filter((child) => child !== root)
  const plans = others.map((child) =>
    isText(child) && child.contentId === undefined ? leafPlan(child) : planFiles(child),
  )
  return joined(root === undefined ? plans : [planBody(root), ...plans])
}

/** Whether a part of a related may be what it shows. */
function isShown({ type }: Part): boolean {
  return type === 'text/html' || type === 'text/plain' || type.startsWith('multipart/')
}

function planFiles(part: Part): BodyPlan {
  const { text, html, files } = planBody(part)
  const parts = new Set([...text, ...html, ...files.map((file) => file.part)])
  return { text: [], html: [], files: [...parts].map((file) => ({ part: file, isRelated: true })) }
}

function isText({ type, disposition }: Part): boolean {
  return (type === 'text/plain' || type === 'text/html') && disposition !== 'attachment'
}

/** Types of text that are no messages to read. */
const DATA = /^text\/(?:calendar|csv|(?:x-)?vcard|directory|xml|css|javascript|x-amp-html|watch-html|rfc822-headers)$/

/** The file that can only be the body: a text that nobody called an attachment, without or with a name. */
function onlyText(files: readonly FilePart[]): Part | undefined {
  const parts = files.map(({ part }) => part)
  const texts = parts.filter(isText)
  if (texts.length === 1 || (texts[0] !== undefined && texts[0] === parts[0])) return texts[0]
  return parts.find(
    ({ type, disposition, filename }) =>
      type.startsWith('text/') && !DATA.test(type) && disposition !== 'attachment' && filename === undefined,
  )
}
