// One page of the API reference: the operations of one tag, or the requests that webhooks are.
import { codeBlock } from './highlight.mjs'
import { html } from './html.mjs'
import { anchor, renderBlock, renderInline } from './markdown.mjs'
import { component, schemaRenderer } from './schemas.mjs'

/** The languages of the samples, in their order. */
const LANGUAGES = { Shell: { name: 'curl', code: 'sh' }, TypeScript: { name: 'TypeScript', code: 'typescript' } }
const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** @returns the operations of a tag as `{ id, method, path, operation }`, in the order of the document */
export function operationsOf(document, tag) {
  const requests = [
    ...Object.entries(document.paths).map(([path, item]) => ({ path, item })),
    ...Object.entries(document.webhooks).map(([, item]) => ({ path: 'the URL of your endpoint', item })),
  ]
  return requests.flatMap(({ path, item }) =>
    METHODS.filter((method) => item[method]?.tags?.includes(tag)).map((method) => ({
      id: item[method].operationId,
      method: method.toUpperCase(),
      path,
      operation: item[method],
    })),
  )
}

/**
 * @param {object} document the OpenAPI document
 * @param {(href: string) => string | undefined} link for the links of descriptions
 * @param {(code: string) => string} errorLink the address of an error code
 */
export function operationRenderer(document, link, errorLink) {
  const schemas = schemaRenderer(document, link)
  const resolve = (part) => (part?.$ref === undefined ? part : component(document, part.$ref))

  function parameters(operation) {
    const all = (operation.parameters ?? []).map(resolve)
    return ['path', 'query', 'header'].map((location) => {
      const some = all.filter((parameter) => parameter.in === location)
      if (some.length === 0) return undefined
      return html`<h3>${{ path: 'Path', query: 'Query', header: 'Headers' }[location]}</h3><ul class="members">${some.map(
        ({ name, schema, description, required, deprecated }) =>
          schemas.member(name, schema, { isRequired: required, isDeprecated: deprecated, description }),
      )}</ul>`
    })
  }

  function body({ requestBody }) {
    if (requestBody === undefined) return undefined
    const { required, content } = requestBody
    return html`<h3>Body${!required && html` <span class="type">optional</span>`}</h3>${Object.entries(content).map(
      ([type, { schema }]) => {
        const members = schemas.members(schema)
        const shown =
          members ??
          html`<p class="about">${schemas.typeName(schema)}${schema.description && html`. ${schema.description}`}</p>`
        if (type === 'application/json') return html`<p class="media"><code>${type}</code></p>${shown}`
        return html`<details class="media"><summary>As <code>${type}</code></summary>${shown}</details>`
      },
    )}`
  }

  function responses(operation) {
    const entries = Object.entries(operation.responses)
    const isError = ([status]) => /^[45]|default/.test(status)
    return html`<h3>Responses</h3>${entries.filter((entry) => !isError(entry)).map(success)}${
      entries.some(isError) && html`<ul class="errors">${entries.filter(isError).map(failure)}</ul>`
    }`
  }

  function success([status, response]) {
    const { description, content = {}, headers = {} } = resolve(response)
    const [type, media] = Object.entries(content)[0] ?? []
    const members = media?.schema && schemas.members(media.schema)
    const fields = Object.entries(headers).map(([name, header]) => {
      const { schema, description: about } = resolve(header)
      return schemas.member(name, schema, { description: about })
    })
    return html`<details><summary><span class="status good">${status}</span> ${renderInline(description, link)}${
      type && html` <span class="type">${type}</span>`
    }</summary>${fields.length > 0 && html`<ul class="members">${fields}</ul>`}${
      members ?? html`<p class="about">${media?.schema ? schemas.typeName(media.schema) : 'Without a body.'}</p>`
    }</details>`
  }

  function failure([status, response]) {
    const { description, content = {} } = resolve(response)
    const media = content['application/json'] ?? {}
    const example = media.example ?? Object.values(media.examples ?? {})[0]?.value
    const code = example?.error?.code
    return html`<li><span class="status">${status === 'default' ? 'other' : status}</span> ${
      code && status !== 'default' && html`<a href="${errorLink(code)}"><code>${code}</code></a> `
    }<span class="about">${renderInline(description, link)}</span></li>`
  }

  /** The request in each language, as a choice that works without a script, and the response. */
  function samples({ id, operation }) {
    const all = operation['x-codeSamples'] ?? []
    const languages = Object.keys(LANGUAGES).filter((lang) => all.some((sample) => sample.lang === lang))
    return html`${
      languages.length > 0 &&
      html`<div class="samples"><fieldset><legend>Request</legend>${languages.map(
        (lang, index) =>
          html`<label><input type="radio" name="language-${id}" value="${lang}"${index === 0 && html` checked`}><span>${LANGUAGES[lang].name}</span></label>`,
      )}</fieldset>${languages.map(
        (lang) =>
          html`<div class="sample" data-language="${lang}">${all.filter((sample) => sample.lang === lang).map(sample)}</div>`,
      )}</div>`
    }${sentBody(operation)}${received(operation)}`
  }

  function sample({ lang, label, source }) {
    const [, variant] = /^[^:]+: (.*)$/.exec(label) ?? []
    const block = codeBlock(
      source,
      LANGUAGES[lang].code,
      `Request with ${LANGUAGES[lang].name}${variant ? `: ${variant}` : ''}`,
    )
    return variant === undefined ? block : html`<p class="variant">${variant}</p>${block}`
  }

  /** The body of a webhook. */
  function sentBody(operation) {
    if (operation['x-codeSamples'] !== undefined) return undefined
    return bodyExample(operation.requestBody?.content['application/json'], 'Body')
  }

  function received(operation) {
    const [, response] = Object.entries(operation.responses).find(([status]) => /^[23]/.test(status)) ?? []
    return bodyExample(Object.values(resolve(response)?.content ?? {})[0], 'Response')
  }

  function bodyExample(media, name) {
    const value = media?.example ?? Object.values(media?.examples ?? {})[0]?.value
    if (value === undefined) return undefined
    const isText = typeof value === 'string'
    return html`<p class="variant">${name}</p>${codeBlock(isText ? value : JSON.stringify(value, null, 2), isText ? '' : 'json', name)}`
  }

  function access({ security = [] }) {
    const isOpen = security.length === 0 || security.some((way) => Object.keys(way).length === 0)
    const scope = security.flatMap((way) => Object.values(way).flat())[0]
    if (security.length === 0) return 'no key'
    return `${isOpen ? 'a key is optional' : 'API key'}${scope ? `, scope ${scope}` : ''}`
  }

  return (entry) => {
    const { id, method, path, operation } = entry
    return html`<section class="operation" aria-labelledby="${id}"><h2 id="${id}">${operation.summary}${anchor(id)}</h2>
<p class="request"><span class="method ${method.toLowerCase()}">${method}</span> <code>${breakable(path)}</code>${
      operation['x-codeSamples'] && html` <span class="access">${access(operation)}</span>`
    }</p>
<div class="columns"><div>${operation.description && renderBlock(operation.description, link)}${parameters(operation)}${body(operation)}${responses(operation)}</div>
<div class="aside">${samples(entry)}</div></div></section>
`
  }
}

/** The path may break after each slash. */
export function breakable(path) {
  return path.split(/(?<=\/)/).map((part) => html`${part}<wbr>`)
}
