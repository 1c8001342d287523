import { MASK, maskedHeaders } from '../../platform/outbound/index.ts'
import { isoTime } from '../../platform/time/time.ts'
import type { MailLimit } from '../guests/limit-report.ts'
import { defaultMinutes } from '../slots/slot-rules.ts'
import type { ExperienceView, PublicExperience } from './api.ts'
import { bookingUrl, type CallbackName, type Experience } from './experience.ts'

/** As the API returns it: without secrets. */
export function experienceView(experience: Experience, publicUrl: string, mailLimit?: MailLimit): ExperienceView {
  const { id, slug, name, description, timezone, isActive, definition } = experience
  const { defaultAccountIds, metadata, availability, bookingForm, ui, allowedOrigins } = definition
  return {
    id,
    slug,
    name,
    description,
    timezone,
    isActive,
    defaultAccountIds,
    metadata,
    availability,
    availabilityEndpoint: endpointView(experience, 'availability'),
    bookingEndpoint: endpointView(experience, 'booking'),
    routingEndpoint: endpointView(experience, 'routing'),
    bookingForm,
    ui,
    allowedOrigins,
    ...(mailLimit !== undefined && { mailLimit }),
    bookingUrl: bookingUrl(publicUrl, slug),
    createdAt: isoTime(experience.createdAt),
    updatedAt: isoTime(experience.updatedAt),
  }
}

function endpointView({ definition, secrets }: Experience, name: CallbackName): ExperienceView['bookingEndpoint'] {
  const endpoint = definition.endpoints[name]
  if (endpoint === null) return null
  const { headers = {}, secret = null } = secrets.endpoints[name] ?? {}
  return { ...endpoint, headers: maskedHeaders(Object.keys(headers)), ...(secret !== null && { secret: MASK }) }
}

/** Selects the fields that a guest may read. */
export function publicView({ slug, name, description, timezone, definition }: Experience): PublicExperience {
  const { bookingForm, ui } = definition
  const { routing: _routing, ...form } = bookingForm ?? {}
  const availability = definition.availability ?? {}
  const durationMinutes = defaultMinutes(availability)
  return {
    slug,
    name,
    description,
    timezone,
    bookingForm: bookingForm === null ? null : form,
    ui,
    durationMinutes,
    sendsMessages: sendsMessages(definition),
    durations: [...new Set([durationMinutes, ...(availability.durations ?? [])])].sort((a, b) => a - b),
  }
}

/** Messages are sent from the account of a host. */
function sendsMessages({ defaultAccountIds, endpoints, bookingForm }: Experience['definition']): boolean | null {
  if (defaultAccountIds.length > 0) return true
  const mayNameHosts = endpoints.availability !== null || endpoints.routing !== null
  return mayNameHosts || (bookingForm?.routing ?? []).length > 0 ? null : false
}
