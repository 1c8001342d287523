import { describe, expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { startScriptedImap } from '../../../../test/servers/scripted-imap.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { imapProvider } from '../provider.ts'
import { canonicalFlags, hasFlag } from './flags.ts'
import { flagState } from './map.ts'

it('compares flags without case', () => {
  expect(flagState(new Set(['\\SEEN', '\\flagged']))).toEqual({ unread: false, starred: true })
  expect(flagState(new Set(['\\Seen']))).toEqual({ unread: false, starred: false })
  expect(flagState(undefined)).toEqual({ unread: true, starred: false })
  expect(hasFlag(new Set(['\\Seenx', '$SEEN']), '\\Seen')).toBe(false)
  expect(canonicalFlags(new Set(['\\SEEN', '$Label1', '\\*']))).toEqual(new Set(['\\Seen', '$Label1', '\\*']))
})

/** A server that writes every flag in upper case. */
async function shouting() {
  const stored: string[] = []
  const script = {
    folders: ['Shared'],
    selected: ['1 EXISTS', 'OK [UIDVALIDITY 7] ok', 'OK [UIDNEXT 2] ok', 'OK [PERMANENTFLAGS (\\SEEN \\FLAGGED)] ok'],
    onUid(command: string, say: (...lines: string[]) => void) {
      if (command.startsWith('STORE')) stored.push(command)
      if (command.startsWith('FETCH')) say('1 FETCH (UID 1 FLAGS (\\SEEN \\FLAGGED))')
    },
  }
  const server = closing(await startScriptedImap(script))
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
  onTestFinished(() => mail.closeConnections())
  return { edits: mail.edits(server.access), stored }
}

describe('a server that writes flags in upper case', () => {
  it('gets only the changes that it has not made', async () => {
    const { edits, stored } = await shouting()
    const message = { folderPath: 'INBOX', uidValidity: '7', uid: 1 }
    const [same] = await edits.changeMessages([{ message, unread: false, starred: true }])
    expect(same).toMatchObject({ unread: false, starred: true })
    expect(stored).toEqual([])
    const [changed] = await edits.changeMessages([{ message, unread: true, starred: true }])
    expect(changed).toMatchObject({ unread: true, starred: true })
    expect(stored).toEqual([expect.stringMatching(/STORE 1 -FLAGS(\.SILENT)? \(\\Seen\)/)])
  })
})
