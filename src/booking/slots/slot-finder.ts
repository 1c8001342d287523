import { accountQueries } from '../../accounts/index.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Db } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { isoTime } from '../../platform/time/time.ts'
import type { ApplicationCallbacks } from '../callbacks/callbacks.ts'
import type { SlotFinder, SlotList } from '../contract.ts'
import { bookingUrl, type Experience } from '../experiences/experience.ts'
import type { Experiences } from '../experiences/service.ts'
import { callbackFinder } from './callback/callback-slots.ts'
import { slotTokens } from './callback/tokens.ts'
import { router } from './routing.ts'

interface SlotFinderDeps {
  db: Db
  clock: Clock
  log: Log
  sealer: Sealer
  publicUrl: string
  experiences: Pick<Experiences, 'findActive'>
  callbacks: ApplicationCallbacks
  /** Finds slots for experiences without an availability endpoint. */
  builtIn: SlotFinder
}

/** Follows the routing of an experience, then asks its callback or finds slots from its open hours. */
export function slotFinder(deps: SlotFinderDeps): SlotFinder {
  const { db, clock, log, sealer, publicUrl, experiences, callbacks, builtIn } = deps
  const findAccounts = (ids: readonly string[]) => accountQueries(db.read).existing(ids)
  const { findActive } = experiences
  const route = router({ callbacks, log, findActive, existingAccounts: findAccounts })
  const callback = callbackFinder({ db, callbacks, clock, tokens: slotTokens(sealer), existingAccounts: findAccounts })
  const chooseFinder = ({ definition }: Experience) => (definition.endpoints.availability === null ? builtIn : callback)

  return {
    async list(experience, request, signal) {
      const { bookingFormResponse: responses, metadata = {}, requestId } = request
      if (responses === undefined) return chooseFinder(experience).list(experience, request, signal)
      const routed = await route(experience, { responses, guest: null, metadata, requestId }, signal)
      if ('redirectUrl' in routed) return redirected(routed.redirectUrl, request.timezone ?? experience.timezone)
      const list = await chooseFinder(routed.experience).list(routed.experience, request, signal)
      return routed.experience.id === experience.id ? list : { ...list, experience: routed.experience }
    },

    freeTimes: (experience, request, signal) => chooseFinder(experience).freeTimes(experience, request, signal),

    async check(experience, choice, options) {
      const { responses, guest = null, metadata = {}, requestId, signal } = options
      if (responses === undefined) return chooseFinder(experience).check(experience, choice, options)
      const routed = await route(experience, { responses, guest, metadata, requestId }, signal)
      if ('redirectUrl' in routed) throw new AppError('redirected', { redirectUrl: routed.redirectUrl })
      const { id, slug } = routed.experience
      if (id !== experience.id) throw new AppError('redirected', { redirectUrl: bookingUrl(publicUrl, slug) })
      return chooseFinder(routed.experience).check(routed.experience, choice, options)
    },
  }

  function redirected(redirectUrl: string, timezone: string): SlotList {
    return { slots: [], generatedAt: isoTime(clock.now()), expiresAt: null, timezone, redirectUrl }
  }
}
