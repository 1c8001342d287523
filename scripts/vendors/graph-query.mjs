// Checks the query options and the header Prefer of requests to Graph.
import { bareType, extendsType, findNavigation, findProperty } from './graph-model.mjs'

const OPTIONS = [
  '$select',
  '$expand',
  '$filter',
  '$orderby',
  '$top',
  '$skip',
  '$count',
  '$search',
  '$skiptoken',
  '$deltatoken',
]
const PARAMETERS = ['startdatetime', 'enddatetime', 'changetype']
const PREFERENCES =
  /^(IdType="ImmutableId"|odata\.maxpagesize=\d+|outlook\.body-content-type="(text|html)"|outlook\.timezone="[^"]+"|return=(minimal|representation))$/
const MAX_PAGE = 1000

/** The options of a query, without percent-encoding. */
export function queryOptions(query) {
  return new Map(new URLSearchParams(query))
}

export function checkQuery(model, { type, pattern }, options, add) {
  for (const name of options.keys()) {
    if (name.startsWith('$') ? !OPTIONS.includes(name) : !PARAMETERS.includes(name.toLowerCase()))
      add(`unknown option ${name}`)
  }
  if (type === undefined) return
  for (const name of (options.get('$select') ?? '').split(',').filter(Boolean)) {
    if (!isSelectable(model, type, name.trim())) add(`$select of the unknown ${name} of ${type}`)
  }
  for (const name of expandedNames(options.get('$expand') ?? '')) {
    if (findNavigation(model, type, name) === undefined) add(`$expand of the unknown ${name} of ${type}`)
  }
  if (Number(options.get('$top') ?? 0) > MAX_PAGE) add('$top is too large', options.get('$top'))
  checkFilter(model, type, options, add)
  if (pattern.endsWith('/delta')) checkDelta(type, options, add)
}

/** `subject`, `microsoft.graph.eventMessage/event`, `start/dateTime`. */
function isSelectable(model, type, name) {
  const [first, second] = name.split('/')
  if (first.startsWith('microsoft.graph.')) {
    const cast = bareType(first)
    return extendsType(model, cast, type) && findProperty(model, cast, second ?? '') !== undefined
  }
  return (findProperty(model, type, first) ?? findNavigation(model, type, first)) !== undefined
}

/** Names outside parentheses. */
function expandedNames(text) {
  let outside = text
  for (let before = ''; before !== outside; ) {
    before = outside
    outside = outside.replace(/\([^()]*\)/g, '')
  }
  return outside.split(',').filter(Boolean)
}

/** https://learn.microsoft.com/graph/api/user-list-messages: properties of $orderby come first in $filter, in the same order. */
function checkFilter(model, type, options, add) {
  const filter = options.get('$filter') ?? ''
  const order = options.get('$orderby') ?? ''
  const names = [...new Set([...filter.matchAll(/(\w+(?:\/\w+)*) (?:eq|ne|ge|gt|le|lt) /g)].map(([, name]) => name))]
  // Names inside any() belong to its variable.
  for (const name of names.filter((name) => !filter.includes(`${name.split('/')[0]}:`))) {
    if (findProperty(model, type, name.split('/')[0]) === undefined) add(`$filter of the unknown ${name}`, filter)
  }
  const ordered = order
    .split(',')
    .filter(Boolean)
    .map((part) => part.trim().split(' ')[0])
  if (filter !== '' && ordered.some((name, index) => names[index] !== name)) {
    add('InefficientFilter: $orderby properties must come first in $filter', `${filter} | ${order}`)
  }
  if (options.has('$search') && (filter !== '' || order !== '')) add('$search together with $filter or $orderby')
}

/** https://learn.microsoft.com/graph/api/message-delta and event-delta. */
function checkDelta(type, options, add) {
  const expand = options.get('$expand') ?? ''
  const filter = options.get('$filter') ?? ''
  const order = options.get('$orderby') ?? ''
  if (expand.includes('(')) add('$expand with options, which a function without EntitySetPath refuses', expand)
  if (type === 'event') {
    const refused = ['$select', '$expand', '$filter', '$orderby', '$search'].filter((name) => options.has(name))
    if (refused.length > 0) add(`an event delta takes no ${refused}`)
  }
  if (type === 'message') {
    if (filter !== '' && !/^receivedDateTime g[et] \S+$/.test(filter))
      add('a message delta does not take this $filter', filter)
    if (order !== '' && order !== 'receivedDateTime desc') add('a message delta does not take this $orderby', order)
  }
}

export function checkPrefer({ pattern }, headers, add) {
  const prefer = String(headers.prefer ?? '')
  if (pattern.startsWith('/me/') && !prefer.includes('IdType="ImmutableId"'))
    add('no Prefer: IdType="ImmutableId"', prefer)
  for (const preference of prefer.split(/,\s*/).filter(Boolean)) {
    if (!PREFERENCES.test(preference)) add('unknown preference', preference)
    if (Number(/^odata\.maxpagesize=(\d+)$/.exec(preference)?.[1] ?? 0) > MAX_PAGE)
      add('odata.maxpagesize is too large', preference)
  }
}

/** https://learn.microsoft.com/graph/aad-advanced-queries: searches of the directory, and counts, read an index that follows later. */
export function checkConsistency({ pattern }, options, headers, add) {
  if (pattern !== '/users') return
  const isAdvanced = options.has('$search') || options.has('$count')
  if (isAdvanced && headers.consistencylevel !== 'eventual') add('no ConsistencyLevel: eventual')
}
