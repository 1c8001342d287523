// Finds the names that a source reads from the modules it loads with `import()`.
import { parseSync } from 'vite'

/**
 * One `import()`: the names that are read from its module, and whether the module goes where this analysis does not follow it, for
 * example into a call or an export.
 * @typedef {{ specifier: string, line: number, names: string[], isPassedOn: boolean }} Use
 */

/**
 * @param {string} file its ending decides the language
 * @param {string} source
 * @returns {Use[]}
 */
export function importedNames(file, source) {
  const { program, errors } = parseSync(file, source, { preserveParens: false })
  if (errors.length > 0) throw new Error(`Cannot parse ${file}: ${errors[0].message}`)
  const parents = new Map()
  for (const [node, parent] of walkNodes(program, undefined)) parents.set(node, parent)
  const uses = []
  for (const node of parents.keys()) {
    if (node.type !== 'ImportExpression') continue
    for (const specifier of findSpecifiers(node.source)) {
      const line = source.slice(0, node.start).split('\n').length
      const found = {
        parents,
        program,
        names: new Set(),
        isPassedOn: false,
        followed: new Set(),
      }
      followPromise(node, found)
      uses.push({ specifier, line, names: [...found.names], isPassedOn: found.isPassedOn })
    }
  }
  return uses
}

/** The texts that the argument can be. Other values are not bundled. */
function findSpecifiers(argument) {
  if (argument.type === 'Literal' && typeof argument.value === 'string') return [argument.value]
  if (argument.type === 'TemplateLiteral' && argument.expressions.length === 0) return [argument.quasis[0].value.cooked]
  if (argument.type === 'ConditionalExpression')
    return [...findSpecifiers(argument.consequent), ...findSpecifiers(argument.alternate)]
  return []
}

/** Wrappers that change only the type of an expression. */
const TYPE_CHANGE = /^(TSAs|TSSatisfies|TSNonNull|Chain)Expression$|^TSTypeAssertion$/

/** Where the value of an expression goes: past what only changes its type or may choose it. */
function parentOf(node, found) {
  let value = node
  let parent = found.parents.get(node)
  while (
    TYPE_CHANGE.test(parent.type) ||
    (parent.type === 'ConditionalExpression' && parent.test !== value) ||
    parent.type === 'LogicalExpression'
  ) {
    value = parent
    parent = found.parents.get(parent)
  }
  return { value, parent }
}

function isIgnored(parent) {
  return parent.type === 'ExpressionStatement' || (parent.type === 'UnaryExpression' && parent.operator === 'void')
}

/** Follows the promise of a module. `index` is its position in the list of a `Promise.all`. */
function followPromise(node, found, index) {
  if (found.followed.has(node)) return
  found.followed.add(node)
  const { value, parent } = parentOf(node, found)
  if (isIgnored(parent)) return
  const call = found.parents.get(parent)
  if (parent.type === 'AwaitExpression') return followModule(parent, found, index)
  if (parent.type === 'MemberExpression' && parent.object === value && call.callee === parent) {
    const name = parent.property.name
    if (name === 'catch' || name === 'finally') return followPromise(call, found, index)
    const [callback] = call.arguments
    const isFunction = /^(ArrowFunction|Function)Expression$/.test(callback?.type)
    if (name === 'then' && isFunction) return bindPattern(callback.params[0], callback, found, index)
  }
  if (parent.type === 'ArrayExpression' && call.type === 'CallExpression' && isPromiseAll(call.callee)) {
    return followPromise(call, found, parent.elements.indexOf(value))
  }
  if (parent.type === 'VariableDeclarator' && parent.id.type === 'Identifier') {
    return followReferences(parent.id, scopeOf(parent, found), found, (it) => followPromise(it, found, index))
  }
  if (index === undefined && isReturned(value, parent)) return followCalls(value, found)
  found.isPassedOn = true
}

function isPromiseAll({ type, object, property }) {
  return type === 'MemberExpression' && object.name === 'Promise' && property.name === 'all'
}

/** Follows a loaded module. */
function followModule(node, found, index) {
  if (found.followed.has(node)) return
  found.followed.add(node)
  const { value, parent } = parentOf(node, found)
  if (isIgnored(parent)) return
  if (parent.type === 'MemberExpression' && parent.object === value) {
    if (index === undefined) return readName(parent.property, parent.computed, found)
    if (parent.computed && parent.property.value === index) return followModule(parent, found)
  }
  if (parent.type === 'JSXMemberExpression') return readName(parent.property, false, found)
  if (parent.type === 'VariableDeclarator') return bindPattern(parent.id, scopeOf(parent, found), found, index)
  if (parent.type === 'AssignmentExpression' && parent.right === value) {
    return bindPattern(parent.left, declaringScope(parent.left, found), found, index)
  }
  if (index === undefined && isReturned(value, parent)) return followCalls(value, found)
  found.isPassedOn = true
}

function readName(key, isComputed, found) {
  if (!isComputed && /^(JSX)?Identifier$/.test(key.type)) found.names.add(key.name)
  else if (key.type === 'Literal') found.names.add(String(key.value))
  else found.isPassedOn = true
}

/** Follows a module into what is declared, assigned or a parameter. */
function bindPattern(pattern, scope, found, index) {
  if (pattern === undefined || pattern === null) return
  if (pattern.type === 'AssignmentPattern') return bindPattern(pattern.left, scope, found, index)
  if (index !== undefined) {
    if (pattern.type === 'ArrayPattern' && !pattern.elements.some((element) => element?.type === 'RestElement')) {
      return bindPattern(pattern.elements[index], scope, found)
    }
    if (pattern.type === 'Identifier') {
      return followReferences(pattern, scope, found, (it) => followModule(it, found, index))
    }
    found.isPassedOn = true
    return
  }
  if (pattern.type === 'Identifier') return followReferences(pattern, scope, found, (it) => followModule(it, found))
  if (pattern.type !== 'ObjectPattern') {
    found.isPassedOn = true
    return
  }
  for (const property of pattern.properties) {
    if (property.type === 'RestElement') found.isPassedOn = true
    else readName(property.key, property.computed, found)
  }
}

function isReturned(value, parent) {
  return parent.type === 'ReturnStatement' || (parent.type === 'ArrowFunctionExpression' && parent.body === value)
}

/** Follows what the calls of a function of this file return. */
function followCalls(returned, found) {
  let node = returned
  while (node !== undefined && !/Function/.test(node.type)) node = found.parents.get(node)
  const holder = node === undefined ? undefined : found.parents.get(node)
  const name = node?.type === 'FunctionDeclaration' ? node.id : holder?.type === 'VariableDeclarator' ? holder.id : null
  if (name?.type !== 'Identifier') {
    found.isPassedOn = true
    return
  }
  const declaration = node.type === 'FunctionDeclaration' ? node : found.parents.get(holder)
  if (/^Export/.test(found.parents.get(declaration).type)) found.isPassedOn = true
  followReferences(name, scopeOf(declaration, found), found, (reference) => {
    const parent = found.parents.get(reference)
    if (parent.type === 'CallExpression' && parent.callee === reference) followPromise(parent, found)
    else found.isPassedOn = true
  })
}

/** The block, function or program that a declaration belongs to. */
function scopeOf(node, { parents }) {
  let scope = parents.get(node)
  while (!/^(Program|BlockStatement|StaticBlock|For\w*Statement|SwitchStatement)$/.test(scope.type))
    scope = parents.get(scope)
  return scope
}

/** The scope that declares an assigned variable. */
function declaringScope(variable, { parents, program }) {
  let scope = parents.get(variable)
  while (scope !== program && !declares(scope, variable.name)) scope = parents.get(scope)
  return scope
}

/** Calls `follow` with each identifier that refers to the declared one, and notices exports of it. */
function followReferences(declared, scope, found, follow) {
  const visit = (node) => {
    if (node !== scope && declares(node, declared.name)) return
    for (const child of childNodes(node)) {
      if (child !== declared && /^(JSX)?Identifier$/.test(child.type) && child.name === declared.name) {
        if (isReference(child, node)) follow(child)
        else if (node.type === 'ExportSpecifier') found.isPassedOn = true
      } else visit(child)
    }
  }
  if (found.parents.get(found.parents.get(found.parents.get(declared)))?.type === 'ExportNamedDeclaration') {
    found.isPassedOn = true
  }
  visit(scope)
}

/** Whether a block or a function declares the name anew. */
function declares(node, name) {
  if (/Function/.test(node.type)) return (node.params ?? []).some((param) => namesIn(param).includes(name))
  if (node.type !== 'BlockStatement') return false
  return node.body.some(
    (statement) =>
      statement.type === 'VariableDeclaration' && statement.declarations.some(({ id }) => namesIn(id).includes(name)),
  )
}

/** The names that a pattern declares. */
function namesIn(pattern) {
  if (pattern === null) return []
  if (pattern.type === 'Identifier') return [pattern.name]
  if (pattern.type === 'ObjectPattern') return pattern.properties.flatMap((it) => namesIn(it.value ?? it.argument))
  if (pattern.type === 'ArrayPattern') return pattern.elements.flatMap(namesIn)
  return namesIn(pattern.left ?? pattern.argument ?? null)
}

/** Whether an identifier reads the variable of its name. */
function isReference(node, parent) {
  if (/^(JSX)?MemberExpression$/.test(parent.type)) return parent.object === node || parent.computed
  if (/^(Property|MethodDefinition|PropertyDefinition)$/.test(parent.type))
    return parent.value === node || parent.computed
  if (parent.type === 'AssignmentExpression') return parent.right === node
  if (parent.type === 'VariableDeclarator') return parent.init === node
  return TYPE_CHANGE.test(parent.type) || !/^(ExportSpecifier|LabeledStatement|JSXAttribute|TS\w+)$/.test(parent.type)
}

function* walkNodes(node, parent) {
  yield [node, parent]
  for (const child of childNodes(node)) yield* walkNodes(child, node)
}

function childNodes(node) {
  return Object.values(node)
    .flat()
    .filter((value) => typeof value?.type === 'string')
}
