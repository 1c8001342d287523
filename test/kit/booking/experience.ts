import type { Availability, Experience } from '../../../src/booking/experiences/experience.ts'

export interface ExperienceOptions {
  id?: string
  timezone?: string
  hosts?: readonly string[]
}

/** An experience with this availability and no endpoints. */
export function experienceWith(availability: Availability, options: ExperienceOptions = {}): Experience {
  const { id = 'exp_1', timezone = 'Europe/Berlin', hosts = [] } = options
  return {
    id,
    slug: id.replace('_', '-'),
    name: 'Call',
    description: '',
    timezone,
    isActive: true,
    definition: {
      defaultAccountIds: [...hosts],
      metadata: {},
      bookingForm: null,
      ui: null,
      // The accounts of tests have stored calendars and no server.
      availability: { checkCalendars: 'stored', ...availability },
      allowedOrigins: [],
      endpoints: { availability: null, booking: null, routing: null },
    },
    secrets: { callbackSecret: '', endpoints: {} },
    createdAt: 0,
    updatedAt: 0,
  }
}
