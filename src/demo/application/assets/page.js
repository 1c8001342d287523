// Shows what the demo's server sends. Content of messages and webhooks is only ever set as text.
const find = (id) => document.getElementById(id)
const STATES = { waiting: '(waiting)', running: '(in progress)', done: '(done)', failed: '(failed)' }

start()

function start() {
  const source = new EventSource('/events')
  source.addEventListener('view', ({ data }) => show(JSON.parse(data)))
  source.addEventListener('open', () => {
    find('offline').hidden = true
  })
  source.addEventListener('error', () => {
    find('offline').hidden = false
  })
  document.querySelector('form[action="/send"]').addEventListener('submit', (event) => {
    event.preventDefault()
    void send(event.submitter)
  })
  document.addEventListener('click', ({ target }) => {
    if (target.matches('.copy')) void copy(target)
  })
}

async function send(button) {
  button.disabled = true
  const response = await fetch('/send', { method: 'POST' }).catch(() => undefined)
  if (!response?.ok) announce('The message was not sent. The terminal says why.')
  button.disabled = false
  button.focus()
}

async function copy(button) {
  await navigator.clipboard.writeText(button.parentElement.querySelector('pre').textContent)
  button.firstChild.textContent = 'Copied'
  setTimeout(() => {
    button.firstChild.textContent = 'Copy'
  }, 1500)
}

function show(view) {
  for (const step of view.steps) showStep(step)
  const [connect, send] = ['/connect', '/send'].map((path) => document.querySelector(`form[action="${path}"] button`))
  connect.disabled = view.steps.find(({ id }) => id === 'connect').status === 'waiting'
  connect.textContent = view.connected ? 'Connect it again' : 'Connect a mailbox'
  connect.classList.toggle('primary', !view.connected)
  connect.classList.toggle('secondary', view.connected)
  connect.nextElementSibling.hidden = view.connected
  send.disabled = !view.connected
  const book = document.querySelector('form[action="/book"] button')
  if (book !== null) book.disabled = !view.bookable
  text(find('notice'), view.notice ?? '')
  text(find('inbox-user'), view.connected ? view.user : '')
  find('inbox-empty').hidden = view.inbox.messages.length > 0
  text(find('inbox-total'), view.inbox.total > view.inbox.messages.length ? `${view.inbox.total} messages in all` : '')
  showList(find('inbox'), view.inbox.messages, messageItem, (item, { unread }) => {
    item.classList.toggle('unread', unread)
  })
  find('webhooks-empty').hidden = view.webhooks.length > 0
  text(find('webhooks-count'), view.webhooks.length > 0 ? `${view.webhooks.length} verified` : '')
  showList(find('webhooks'), view.webhooks, webhookItem)
}

function showStep({ id, status, lines, curl, tookMs }) {
  const item = find(`step-${id}`)
  item.dataset.status = status
  item.querySelector('.state').textContent = STATES[status]
  item.querySelector('.took').textContent = status === 'done' && tookMs !== null ? duration(tookMs) : ''
  // Indented lines repeat for the terminal what the inbox shows.
  const shown = lines.filter((line) => !line.startsWith(' '))
  item.querySelector('.lines').replaceChildren(...shown.map((line) => element('li', '', line)))
  const details = item.querySelector('.curl')
  details.hidden = curl === null
  if (details.querySelector('pre').textContent !== curl) details.querySelector('pre').textContent = curl
}

/** Keeps the elements of known items, so that focus and open details survive an update. */
function showList(list, items, create, update = () => {}) {
  const isFirst = list.childElementCount === 0
  const known = new Map([...list.children].map((child) => [child.dataset.id, child]))
  items.forEach((item, index) => {
    const child = known.get(item.id) ?? create(item)
    if (!known.delete(item.id)) {
      child.dataset.id = item.id
      if (!isFirst) {
        child.classList.add('fresh')
        announce(child.dataset.summary)
      }
    }
    update(child, item)
    if (list.children[index] !== child) list.insertBefore(child, list.children[index] ?? null)
  })
  for (const child of known.values()) child.remove()
}

function messageItem({ from, subject, snippet, receivedAt }) {
  const sender = from?.name || from?.email || 'Unknown sender'
  const item = element('li', 'message')
  const avatar = element('span', 'avatar', [...sender][0]?.toUpperCase() ?? '?')
  avatar.ariaHidden = 'true'
  const body = element('div', 'message-body')
  const top = element('div', 'message-top')
  top.append(element('span', 'sender', sender), time(receivedAt))
  body.append(top, element('div', 'subject', subject || '(no subject)'), element('div', 'snippet', snippet))
  item.append(avatar, body)
  item.dataset.summary = `New message from ${sender}: ${subject}`
  return item
}

function webhookItem({ id, type, signedAt, body }) {
  const item = element('li', 'webhook')
  const details = element('details')
  const summary = element('summary')
  summary.append(element('code', 'type', type), element('span', 'verified', 'signature verified'), time(signedAt))
  summary.append(element('code', 'id soft', id))
  const code = element('div', 'code')
  const button = element('button', 'copy', 'Copy')
  button.type = 'button'
  button.append(element('span', 'hidden', ' the payload'))
  const payload = element('pre')
  payload.tabIndex = 0
  code.append(button, payload)
  details.append(summary, code)
  // Formatted when it is opened: a payload can be long.
  details.addEventListener('toggle', () => {
    if (payload.textContent === '') payload.textContent = JSON.stringify(JSON.parse(body), null, 2)
  })
  item.append(details)
  item.dataset.summary = `Webhook ${type}, signature verified`
  return item
}

const duration = (ms) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`)

function time(at) {
  const date = new Date(at)
  const isToday = date.toDateString() === new Date().toDateString()
  const shown = isToday
    ? date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' })
    : date.toLocaleDateString([], { day: 'numeric', month: 'short' })
  const created = element('time', 'soft', shown)
  created.dateTime = date.toISOString()
  return created
}

function element(name, className = '', content = '') {
  const created = document.createElement(name)
  created.className = className
  created.textContent = content
  return created
}

function text(target, content) {
  target.textContent = content
  target.hidden = content === ''
}

function announce(content) {
  find('announcement').textContent = content
}
