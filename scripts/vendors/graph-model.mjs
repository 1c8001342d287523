// The types, enums and operations of Graph's metadata (CSDL).
import { readFileSync } from 'node:fs'
import { Parser } from 'htmlparser2'

const NAMESPACE = 'microsoft.graph'

/** Reads the schema `microsoft.graph` of a CSDL file. */
export function readGraphModel(file) {
  const model = { types: new Map(), enums: new Map(), operations: new Map() }
  let isGraph = false
  let type
  let enumeration
  let operation
  const parser = new Parser(
    {
      onopentag(tag, attributes) {
        if (tag === 'Schema') isGraph = attributes.Namespace === NAMESPACE
        if (!isGraph) return
        if (tag === 'EntityType' || tag === 'ComplexType') {
          type = {
            base: attributes.BaseType && bareType(attributes.BaseType),
            properties: new Map(),
            navigation: new Map(),
          }
          model.types.set(attributes.Name, type)
        } else if (tag === 'EnumType') {
          enumeration = new Set()
          model.enums.set(attributes.Name, enumeration)
        } else if (tag === 'Member') enumeration?.add(attributes.Name)
        else if (tag === 'Property') {
          type?.properties.set(attributes.Name, { type: attributes.Type, isNullable: attributes.Nullable !== 'false' })
        } else if (tag === 'NavigationProperty') type?.navigation.set(attributes.Name, attributes.Type)
        else if (tag === 'Action' || tag === 'Function') {
          operation = { kind: tag, on: undefined, parameters: new Map(), returns: undefined }
          model.operations.set(attributes.Name, [...(model.operations.get(attributes.Name) ?? []), operation])
        } else if (tag === 'Parameter' && operation !== undefined) {
          // The first parameter is what the operation is bound to.
          if (operation.on === undefined) operation.on = attributes.Type
          else operation.parameters.set(attributes.Name, attributes.Type)
        } else if (tag === 'ReturnType' && operation !== undefined) operation.returns = attributes.Type
      },
      onclosetag(tag) {
        if (tag === 'EntityType' || tag === 'ComplexType') type = undefined
        if (tag === 'Action' || tag === 'Function') operation = undefined
      },
    },
    { xmlMode: true },
  )
  parser.end(readFileSync(file, 'utf8'))
  return model
}

/** `Collection(microsoft.graph.message)` → `message`. */
export function bareType(type) {
  return type
    .replace(/^Collection\((.*)\)$/, '$1')
    .split('.')
    .at(-1)
}

export function isCollection(type) {
  return type.startsWith('Collection(')
}

/** The type and those that it extends. */
function typeChain({ types }, name) {
  const type = types.get(name)
  return type === undefined ? [] : [{ name, ...type }, ...typeChain({ types }, type.base)]
}

export function findProperty(model, type, name) {
  return typeChain(model, type).flatMap(({ properties }) => properties.get(name) ?? [])[0]
}

export function findNavigation(model, type, name) {
  return typeChain(model, type).flatMap(({ navigation }) => navigation.get(name) ?? [])[0]
}

export function extendsType(model, name, base) {
  return typeChain(model, name).some((candidate) => candidate.name === base)
}

/**
 * Follows a path below /v1.0: `/me/messages/AAM=/move`. Returns its pattern (`/me/messages/{id}/move`, also below `/users/{id}`), the
 * type of the resource, whether it is a collection, and the operation. Undefined when the metadata has no such resource.
 */
export function resolvePath(model, path) {
  const segments = path.split('/').filter(Boolean).map(decodeURIComponent)
  const roots = {
    me: { type: 'user', isList: false },
    users: { type: 'user', isList: true },
    subscriptions: { type: 'subscription', isList: true },
  }
  const root = roots[segments[0]]
  if (root === undefined) return undefined
  let at = { pattern: `/${segments[0]}`, ...root, operation: undefined }
  for (const segment of segments.slice(1)) {
    const next = step(model, at, segment)
    if (next === undefined) return undefined
    at = next
  }
  return { ...at, pattern: at.pattern.replace(/^\/users\/\{id\}\//, '/me/') }
}

function step(model, { pattern, type, isList }, segment) {
  if (segment === '$value')
    return { pattern: `${pattern}/$value`, type: undefined, isList: false, operation: undefined }
  const name = segment.replace('microsoft.graph.', '').replace('()', '')
  const operation = (model.operations.get(name) ?? []).find(
    ({ on }) => on !== undefined && isCollection(on) === isList && extendsType(model, type, bareType(on)),
  )
  if (isList && operation === undefined)
    return { pattern: `${pattern}/{id}`, type, isList: false, operation: undefined }
  const target = isList ? undefined : findNavigation(model, type, segment)
  const result = target ?? operation?.returns
  if (target === undefined && operation === undefined) return undefined
  return {
    pattern: `${pattern}/${name}`,
    type: result && bareType(result),
    isList: result !== undefined && isCollection(result),
    operation: target === undefined ? operation : undefined,
  }
}
