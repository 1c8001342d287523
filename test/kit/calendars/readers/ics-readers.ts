import { spawnSync } from 'node:child_process'

/** An event as a program reads it. Times are in UTC, such as 2026-11-25T09:00:00Z. */
export interface ReadEvent {
  /** Of properties that the program left out. */
  errors: string[]
  method: string
  uid: string
  sequence: number
  status: string
  start: string
  end: string
  summary: string
  location: string
  description: string
}

const PYTHON = '/usr/bin/python3'
const SCRIPT = 'test/kit/calendars/readers/read_ics.py'

/** Reads objects of one event each with two programs that others wrote. */
export function readWithOthers(texts: readonly string[]): Record<'icalendar' | 'vobject', ReadEvent>[] {
  const { status, stdout, stderr, error } = spawnSync(PYTHON, ['-B', SCRIPT], { input: JSON.stringify(texts) })
  if (error !== undefined) throw error
  if (status !== 0) {
    throw new Error(`${PYTHON} ${SCRIPT} failed. It needs python3-icalendar and python3-vobject.\n${stderr.toString()}`)
  }
  return JSON.parse(stdout.toString())
}
