// Compiles every .vue and .svelte file and every module with runes below a folder with the frameworks' own compilers.
// Each error and each warning, those about accessibility among them, is a line of the output; the exit status says whether there was one.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { compileScript, compileStyle, parse } from '@vue/compiler-sfc'
import { compile, compileModule } from 'svelte/compiler'

const root = process.argv[2]
let compiled = 0
let problems = 0

function report(file, problem) {
  problems++
  const place = problem.start ?? problem.loc?.start
  console.log(`${relative(root, file)}${place ? `:${place.line}` : ''}: ${problem.code ?? ''} ${problem.message ?? problem}`)
}

function vue(file, source) {
  const { descriptor, errors } = parse(source, { filename: file })
  for (const problem of errors) report(file, problem)
  const script = compileScript(descriptor, {
    id: 'check',
    inlineTemplate: true,
    templateOptions: { compilerOptions: { onWarn: (problem) => report(file, problem) } },
  })
  for (const problem of script.warnings ?? []) report(file, problem)
  for (const style of descriptor.styles) {
    const { errors } = compileStyle({ source: style.content, filename: file, id: 'check', scoped: style.scoped })
    for (const problem of errors) report(file, problem)
  }
}

function svelte(file, source) {
  for (const generate of ['client', 'server']) {
    for (const problem of compile(source, { filename: file, generate, runes: true }).warnings) report(file, problem)
  }
}

function runes(file, source) {
  for (const problem of compileModule(source, { filename: file }).warnings) report(file, problem)
}

// TypeScript with runes is left to esbuild: compileModule takes JavaScript alone.
const compilers = [
  [/\.vue$/, vue],
  [/\.svelte$/, svelte],
  [/\.svelte(\.test)?\.js$/, runes],
]

for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
  const file = join(entry.parentPath, entry.name)
  const [, compiler] = compilers.find(([pattern]) => pattern.test(entry.name)) ?? []
  if (!entry.isFile() || !compiler) continue
  compiled++
  try {
    compiler(file, readFileSync(file, 'utf8'))
  } catch (problem) {
    report(file, problem)
  }
}

console.log(`${compiled} files compiled`)
process.exitCode = problems > 0 || compiled === 0 ? 1 : 0
