import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { startGoogle } from '../../../../test/servers/google.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { pubsub } from './index.ts'

it.each(['unavailable', 'rate-limited'] as const)(
  'keeps the Retry-After of a token endpoint that is %s',
  async (as) => {
    const google = await startGoogle()
    closing({ close: () => google.close() })
    google.fail({ as, on: /POST \/token/, retryAfter: 3600 })
    const { topicName, subscriptionName, credentials } = google.pubsub
    const client = await pubsub({ url: google.url, topicName, subscriptionName, credentials }, systemClock)
    closing({ close: () => client.close() })
    await expect(client.check(new AbortController().signal)).rejects.toMatchObject({ retryAfterMs: 3_600_000 })
  },
)
