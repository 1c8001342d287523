import { expect, it } from 'vitest'
import { deliveryTrace } from './delivery-trace.ts'
import { parseHeaders } from './headers.ts'

const trace = (...lines: string[]) => deliveryTrace(parseHeaders(Buffer.from(lines.join('\r\n'))))
const RECEIVED = 'Received: from out.x by in.y with ESMTPS id 4b; Sun, 1 Mar 2026 10:00:00 +0000'

it('is equal in a copy with lines of its own, and with lines that are folded differently', () => {
  const original = trace('Return-Path: <bo@x>', RECEIVED, 'Subject: a')
  expect(original).not.toBe('')
  const folded = RECEIVED.replace(' by', '\r\n\tby').replace(' id', '\r\n id')
  for (const line of ['X-OfflineIMAP: x1-576f726b', 'X-TUID: AbCdEfGhIjKl']) {
    expect(trace(line, 'Return-path: <bo@x>', folded, 'Subject: a')).toBe(original)
  }
})

it('is another in a message that was delivered twice, and empty in one that was never sent', () => {
  for (const field of ['Delivered-To', 'X-Original-To', 'Envelope-To']) {
    expect(trace(`${field}: ann@y`, RECEIVED)).not.toBe(trace(`${field}: sales@y`, RECEIVED))
  }
  expect(trace(RECEIVED.replace('4b', '4c'))).not.toBe(trace(RECEIVED))
  expect(trace('From: ann@y', 'Subject: a')).toBe('')
})
