import type { FastifyReply } from 'fastify'
import type { Pagination } from '../formats/pagination.ts'

/**
 * Sends `{"<name>":[…],"pagination":{…}}` with items that are JSON already, separated by commas. The
 * caller makes them equal to what the route's schema describes: it is not applied.
 */
export function sendList(
  reply: Pick<FastifyReply, 'type'>,
  name: string,
  items: Buffer,
  pagination: Pagination,
): FastifyReply {
  const start = Buffer.from(`{"${name}":[`)
  const end = Buffer.from(`],"pagination":${JSON.stringify(pagination)}}`)
  return reply.type('application/json; charset=utf-8').send(Buffer.concat([start, items, end]))
}
