import { AppError, ERROR_CATALOGUE, type ErrorCode, type ErrorDetail } from '../../lib/errors.ts'

const MAX_ANSWER_BYTES = 64 * 1024

/** The first answer as it is kept: a body with its status, or an error as facts (its requestId is the repeat's own). */
export type KeptAnswer = { body: unknown } | { error: KeptError }

interface KeptError {
  code: ErrorCode
  message: string
  details: ErrorDetail[]
}

/** Undefined when the answer is too large to be kept. */
export function answerText(kept: KeptAnswer): string | undefined {
  const text = JSON.stringify(kept)
  return Buffer.byteLength(text) > MAX_ANSWER_BYTES ? undefined : text
}

export function keptError({ code, message, details }: AppError): KeptAnswer {
  return { error: { code, message, details } }
}

/** 5xx, 401 and 429 may well be different next time, and so is 409 for a lease that was lost. */
export function isKept(error: AppError): boolean {
  return error.status < 500 && error.status !== 401 && error.status !== 429 && error.code !== 'idempotency_running'
}

/** The text as it was kept; what is not readable any more is a fault of ours. */
export function parseAnswer(text: string): { body: unknown } | { error: AppError } {
  const kept: KeptAnswer = JSON.parse(text)
  if (!('error' in kept)) return kept
  const { code, message, details } = kept.error
  if (!(code in ERROR_CATALOGUE)) throw new Error(`a kept answer has the unknown code "${code}"`)
  return { error: new AppError(code, { message, details, headers: REPLAYED }) }
}

export const REPLAYED = { 'idempotent-replayed': 'true' }
