import { expect, it } from 'vitest'
import { identifyVisitor } from './visitor.ts'

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0 Safari/537.36'

it.each([
  [{ 'user-agent': CHROME }, null],
  [{ 'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148' }, null],
  [{ 'user-agent': 'Thunderbird/128.0' }, null],
  [{ 'user-agent': CHROME, 'sec-purpose': 'prefetch;prerender' }, 'prefetch'],
  [{ 'user-agent': CHROME, purpose: 'prefetch' }, 'prefetch'],
  [{ 'user-agent': CHROME, 'x-moz': 'prefetch' }, 'prefetch'],
  [{ 'user-agent': 'Mozilla/5.0' }, 'apple_mail_privacy'],
  [
    { 'user-agent': 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)' },
    'gmail_image_proxy',
  ],
  [{ 'user-agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' }, 'scanner'],
  [{ 'user-agent': 'Barracuda Sentinel (EE)' }, 'scanner'],
  [{ 'user-agent': 'python-requests/2.32' }, 'scanner'],
  [{ 'user-agent': ' ' }, 'no_user_agent'],
  [{}, 'no_user_agent'],
])('judges %j as %s', (headers, reason) => {
  expect(identifyVisitor(headers, '203.0.113.9').automatedReason).toBe(reason)
})

it('cuts a long user agent', () => {
  expect(identifyVisitor({ 'user-agent': 'x'.repeat(10_000) }, '::1').userAgent).toHaveLength(300)
})
