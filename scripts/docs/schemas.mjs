// Shows JSON Schemas as lists of members. Members of objects open below them.
import { html } from './html.mjs'
import { renderInline } from './markdown.mjs'

/** Below this, the reader finds the members on the page of the object. */
const MAX_DEPTH = 6

/**
 * @param {object} document the OpenAPI document
 * @param {(href: string) => string | undefined} link
 */
export function schemaRenderer(document, link) {
  const follow = (schema) => (schema?.$ref === undefined ? schema : follow(component(document, schema.$ref)))
  const describe = (text) => text && html`<div class="about">${renderInline(text, link)}</div>`

  /** The schema with the members of all its parts. */
  function merge(schema) {
    const own = follow(schema) ?? {}
    if (own.allOf === undefined) return own
    const parts = own.allOf.map(merge)
    return {
      ...own,
      type: 'object',
      properties: Object.assign({}, ...parts.map((part) => part.properties), own.properties),
      required: [...parts, own].flatMap((part) => part.required ?? []),
    }
  }

  /** The choices that differ in more than which members they require. */
  function choices(schema) {
    const { anyOf, oneOf } = follow(schema) ?? {}
    const all = (oneOf ?? anyOf ?? []).map(merge).filter((choice) => choice.type !== 'null')
    return all.filter((choice) => choice.type !== undefined || choice.enum !== undefined || choice.const !== undefined)
  }

  function typeName(schema) {
    const { type, items, format, enum: values, const: value, contentMediaType } = merge(schema)
    if (value !== undefined) return JSON.stringify(value)
    if (values !== undefined)
      return [...new Set(values.map((one) => (one === null ? 'null' : typeof one)))].join(' or ')
    const options = choices(schema)
    if (type === undefined && options.length > 0) {
      const names = options.map(typeName)
      const isNullable = (follow(schema).anyOf ?? follow(schema).oneOf).some((one) => follow(one).type === 'null')
      return [...new Set([...names, ...(isNullable ? ['null'] : [])])].join(' or ')
    }
    if (type === 'array') return items === undefined ? 'array' : `array of ${typeName(items)}`
    if (contentMediaType !== undefined) return 'file'
    const name = Array.isArray(type) ? type.join(' or ') : (type ?? 'any value')
    return format === undefined ? name : `${name} (${format})`
  }

  function limits(schema) {
    const { default: initial, minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = merge(schema)
    return [
      initial !== undefined && html`Default <code>${JSON.stringify(initial)}</code>`,
      minimum !== undefined && `at least ${minimum}`,
      maximum !== undefined && `at most ${maximum}`,
      minLength > 1 && `at least ${minLength} characters`,
      maxLength !== undefined && `at most ${maxLength} characters`,
      minItems > 0 && `at least ${minItems} items`,
      maxItems !== undefined && `at most ${maxItems} items`,
      pattern !== undefined && html`matches <code>${pattern}</code>`,
    ].filter(Boolean)
  }

  function values(schema) {
    const { enum: listed, items, type } = merge(schema)
    if (listed === undefined) return type === 'array' && items !== undefined ? values(items) : undefined
    const shown = listed.filter((one) => one !== null).map((one) => html` <code>${String(one)}</code>`)
    return html`<div class="limits">One of${shown}</div>`
  }

  /** One member, or one parameter. */
  function member(name, schema, { isRequired = false, isDeprecated = false, description, depth = 0, seen = [] } = {}) {
    const shown = merge(schema)
    const facts = limits(schema)
    return html`<li><div class="member"><code class="name">${name}</code> <span class="type">${typeName(schema)}</span>${
      isRequired && html` <span class="required">required</span>`
    }${isDeprecated && html` <span class="deprecated">deprecated</span>`}</div>${describe(description ?? follow(schema)?.description ?? shown.description)}${values(schema)}${
      facts.length > 0 && html`<div class="limits">${facts.map((fact, index) => [index > 0 && ', ', fact])}</div>`
    }${inside(schema, name, depth, seen)}</li>`
  }

  /** The members of what a member contains, closed. */
  function inside(schema, name, depth, seen) {
    const content = members(schema, depth + 1, seen)
    return content && html`<details><summary>Members of <code>${name}</code></summary>${content}</details>`
  }

  /** @returns the list of members, or undefined for a schema without members */
  function members(schema, depth = 0, seen = []) {
    const { $ref } = schema ?? {}
    if (depth > MAX_DEPTH || ($ref !== undefined && seen.includes($ref))) return undefined
    const path = $ref === undefined ? seen : [...seen, $ref]
    const shown = merge(schema)
    if (shown.type === 'array') return members(shown.items, depth, path)
    const { properties, patternProperties, additionalProperties } = shown
    const rest = Object.values(patternProperties ?? {})[0] ?? additionalProperties
    if (properties !== undefined) {
      const entries = Object.entries(properties)
      if (entries.length === 0 && typeof rest !== 'object') return undefined
      return html`<ul class="members">${entries.map(([name, value]) => {
        const isRequired = shown.required?.includes(name)
        return member(name, value, { isRequired, isDeprecated: merge(value).deprecated, depth, seen: path })
      })}${typeof rest === 'object' && member('any other name', rest, { depth, seen: path })}</ul>`
    }
    if (typeof rest === 'object' && Object.keys(rest).length > 0) {
      return html`<ul class="members">${member('any name', rest, { depth, seen: path })}</ul>`
    }
    const options = choices(schema).filter((choice) => choice.properties !== undefined)
    if (options.length === 0) return undefined
    if (options.length === 1) return members(options[0], depth, path)
    return html`${options.map((choice, index) => {
      const content = members(choice, depth + 1, path)
      return html`<details><summary>${index === 0 ? 'Either' : 'Or'} ${choice.title ?? `form ${index + 1}`}</summary>${content}</details>`
    })}`
  }

  return { member, members, typeName, follow }
}

/** The part of the document that a reference names. */
export function component(document, reference) {
  const names = reference.slice(2).split('/')
  return names.reduce((part, name) => part[name.replaceAll('~1', '/').replaceAll('~0', '~')], document)
}
