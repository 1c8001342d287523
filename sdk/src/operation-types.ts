import type { operations } from './generated/schema.ts'

type Operations = operations
export type OperationId = keyof Operations

/** What a method takes as `query`. Members that are undefined are not sent. */
export type Query<Id extends OperationId> = Operations[Id]['parameters'] extends { query?: infer Parameters }
  ? { [Name in keyof NonNullable<Parameters>]?: NonNullable<Parameters>[Name] | undefined }
  : never

/** What a method takes as `body`. */
export type Body<Id extends OperationId> =
  NonNullable<Operations[Id]['requestBody']> extends { content: { 'application/json': infer Json } } ? Json : never

/** What a method resolves with. */
export type Result<Id extends OperationId> = {
  [Status in keyof Operations[Id]['responses']]: Operations[Id]['responses'][Status] extends {
    content: { 'application/json': infer Json }
  }
    ? Json
    : never
}[keyof Operations[Id]['responses']]

/** The items of a list, which are a member of its responses. */
export type List<
  Id extends OperationId,
  Name extends keyof Result<Id>,
> = Result<Id>[Name] extends readonly (infer Item)[] ? Item : never
