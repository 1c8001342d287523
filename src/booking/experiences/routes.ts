import * as Type from 'typebox'
import { type AllowedOrigins, type App, type Idempotency, pageQuery } from '../../platform/http/index.ts'
import { createBody, experienceList, experienceParams, experienceSchema, publicSchema, updateBody } from './api.ts'
import type { Experiences } from './service.ts'

const tags = ['Scheduler']
const PATH = '/scheduler/experiences'

export function experienceRoutes(app: App, deps: { experiences: Experiences; idempotency: Idempotency }): void {
  const { experiences, idempotency } = deps

  app.get(
    PATH,
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'listExperiences',
        summary: 'List experiences',
        querystring: Type.Object(pageQuery),
        response: { 200: experienceList },
      },
    },
    async (request) => {
      const { items, pagination } = await experiences.list(request.query)
      return { experiences: items, pagination }
    },
  )

  app.post(
    PATH,
    {
      config: { access: 'key:write', audit: 'experience.created' },
      schema: {
        tags,
        operationId: 'createExperience',
        summary: 'Create an experience',
        body: createBody,
        response: { 201: experienceSchema },
      },
    },
    idempotency.writing(async (request, reply) => {
      const create = await experiences.create(request.body)
      reply.code(201)
      return async (tx) => {
        const created = await create(tx)
        await request.recordAudit(tx, { target: created.slug })
        return created
      }
    }),
  )

  app.get(
    `${PATH}/:slug`,
    {
      config: {
        access: 'open:read',
        cors: originReader(experiences),
        rateLimit: { name: 'experience', address: { limit: 300, windowMs: 60_000 } },
      },
      schema: {
        tags,
        operationId: 'getExperience',
        summary: 'Get an experience',
        description:
          'Without a key: what guests may know of an active experience; an inactive one is 404. Pages of `allowedOrigins` may request it.',
        params: experienceParams,
        response: { 200: Type.Union([experienceSchema, publicSchema]) },
      },
    },
    ({ params: { slug }, caller }) => (caller === undefined ? experiences.getPublic(slug) : experiences.get(slug)),
  )

  app.patch(
    `${PATH}/:slug`,
    {
      config: { access: 'key:write', audit: 'experience.updated' },
      schema: {
        tags,
        operationId: 'updateExperience',
        summary: 'Update an experience',
        description:
          'Experiences are not deleted, because bookings refer to them: set `isActive` to false. Changes apply to later bookings.',
        params: experienceParams,
        body: updateBody,
        response: { 200: experienceSchema },
      },
    },
    (request) => experiences.update(request.params.slug, request.body, (tx) => request.recordAudit(tx)),
  )
}

/** Reads the allowed origins of the experience in the path, for every route below it that guests use. */
export function originReader(experiences: Pick<Experiences, 'allowedOrigins'>): AllowedOrigins {
  return ({ params }) => {
    const { slug } = Object(params)
    return experiences.allowedOrigins(String(slug))
  }
}
