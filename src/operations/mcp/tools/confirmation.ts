import * as Type from 'typebox'
import type { Confirmation } from '../confirmations.ts'
import type { ToolResult } from '../tool.ts'

/** The facts of a tool that needs two calls. */
export const CONFIRMATION_FACTS = {
  status: Type.String({ description: 'confirmation_required: nothing was done yet.' }),
  confirmationToken: Type.Optional(Type.String()),
  expiresAt: Type.Optional(Type.String({ description: 'When the token expires.' })),
}

interface Preview {
  confirmation: Confirmation
  /** "the message to 2 recipients" */
  what: string
  /** The arguments of the second call. */
  repeat: string
  facts?: Readonly<Record<string, unknown>>
  untrusted: Readonly<Record<string, unknown>>
}

/** The result of a first call, which did nothing that others notice. */
export function confirmationNeeded(tool: string, preview: Preview): ToolResult {
  const { confirmation, what, repeat, facts, untrusted } = preview
  return {
    summary: `This is a preview; nobody was notified. Show ${what} to the user. If the user agrees, call ${tool} with ${repeat}.`,
    facts: { status: 'confirmation_required', ...facts, ...confirmation },
    untrusted,
  }
}
