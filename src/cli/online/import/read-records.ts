import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { describeError } from '../../../platform/errors/describe-error.ts'
import { exceededJsonLimit, JsonScanner, OPEN_LIST, OPEN_OBJECT } from '../../../platform/formats/json-limits.ts'
import { UsageError } from '../../command.ts'
import { type Fields, isFields } from './fields.ts'

const MAX_BYTES = 128 * 1024 * 1024
const MAX_RECORDS = 100_000
const JSON_LIMITS = { depth: 100, values: 20_000_000 }

/** One record of an export, in the order of the file. Undefined: it is no JSON object. */
export type FoundRecord = Fields | undefined

/**
 * The records of an export, from a file or, for `-`, from standard input. It may be one JSON list, pages that hold their records in one
 * of these members, one record per line, or records after each other without any separator. What cannot be read does not hide the
 * rest. Errors never quote the text, which holds passwords. Throws `UsageError`.
 */
export async function readRecords(file: string, listMembers: readonly string[]): Promise<FoundRecord[]> {
  const records = parseValues(await readText(file)).flatMap((value) => unwrapped(value, listMembers))
  if (records.length === 0) throw new UsageError(`${file} contains no accounts.`)
  if (records.length > MAX_RECORDS) {
    throw new UsageError(`${file} contains more than ${MAX_RECORDS} accounts. Divide it.`)
  }
  return records
}

async function readText(file: string): Promise<string> {
  const source: Readable = file === '-' ? process.stdin : createReadStream(file)
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of source) {
      bytes += chunk.length
      if (bytes > MAX_BYTES) break
      chunks.push(Buffer.from(chunk))
    }
  } catch (error) {
    throw new UsageError(`Cannot read ${file} (${describeError(error)}).`)
  }
  if (bytes > MAX_BYTES) throw new UsageError(`${file} is larger than ${MAX_BYTES / 1024 / 1024} MB. Divide it.`)
  const text = Buffer.concat(chunks)
    .toString()
    .replace(/^\uFEFF/, '')
  if (exceededJsonLimit(text, JSON_LIMITS) !== undefined) throw new UsageError(`${file} is no export of accounts.`)
  return text
}

/** The values of the text, whatever separates them. Where it is broken, each line is read alone. */
function parseValues(text: string): unknown[] {
  const whole = splitValues(text)
  if (whole.isClean) return whole.values
  return text.split('\n').flatMap((line) => {
    if (line.trim() === '') return []
    const { values, isClean } = splitValues(line)
    return isClean ? values : [...values, undefined]
  })
}

/** Parses the lists and objects that follow each other. `isClean` is false when there is anything else. */
function splitValues(text: string): { values: unknown[]; isClean: boolean } {
  const scanner = new JsonScanner(JSON_LIMITS)
  const values: unknown[] = []
  let isClean = true
  let start = -1
  let end = 0
  scanner.scan(text, (code, at) => {
    const isOpening = code === OPEN_LIST || code === OPEN_OBJECT
    if (isOpening && scanner.depth === 1) {
      isClean &&= isSeparator(text.slice(end, at))
      start = at
    } else if (scanner.depth <= 0 && start !== -1) {
      end = at + 1
      const value = parsed(text.slice(start, end))
      if (value === undefined) isClean = false
      else values.push(value)
      start = -1
    }
  })
  return { values, isClean: isClean && start === -1 && isSeparator(text.slice(end)) }
}

const isSeparator = (text: string) => /^[\s,]*$/.test(text)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function unwrapped(value: unknown, listMembers: readonly string[]): FoundRecord[] {
  if (Array.isArray(value)) return value.map((each) => (isFields(each) ? each : undefined))
  if (!isFields(value)) return [undefined]
  for (const member of listMembers) {
    const inner = value[member]
    if (Array.isArray(inner) || isFields(inner)) return unwrapped(inner, [])
  }
  return [value]
}
