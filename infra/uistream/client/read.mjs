// Sends one chat message as a page with the AI SDK would, and reads the answer as that page would.
//
//   node read.mjs < {"url", "cookie"?, "body": {"projectId", "message", ...}}
//
// prints what package uistream's Message is made of, as one line of JSON.
import { DefaultChatTransport, readUIMessageStream } from 'ai';
import { text } from 'node:stream/consumers';

const { url, cookie, body } = JSON.parse(await text(process.stdin));
const { message, ...rest } = body;

// The transport speaks of a chat's messages; this API wants the last one's text and knows the others itself.
const transport = new DefaultChatTransport({
  api: url + '/api/ai/chat/stream',
  headers: cookie ? { cookie } : {},
  prepareSendMessagesRequest: ({ messages, body }) => ({
    body: { ...body, message: messages.at(-1).parts.map(part => part.text).join('') },
  }),
});

const result = { message: null, chunks: 0, states: 0, firstMs: 0, lastMs: 0, finishReason: '', errors: [], failure: '', status: 0 };
const began = performance.now();

// watch notes what passes on its way to the reader.
function watch(stream) {
  const reader = stream.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        result.lastMs = performance.now() - began;
        if (result.chunks++ === 0) result.firstMs = result.lastMs;
        if (value.type === 'finish') result.finishReason = value.finishReason;
        if (value.type === 'error') result.errors.push(value.errorText);
        controller.enqueue(value);
      } catch (cause) {
        result.failure = String(cause);
        controller.error(cause);
      }
    },
  });
}

try {
  const stream = await transport.sendMessages({
    trigger: 'submit-message',
    chatId: 'chat',
    messages: [{ id: 'question', role: 'user', parts: [{ type: 'text', text: message }] }],
    body: rest,
  });
  // An error frame is no end of the stream, and an order of frames that the SDK refuses is one.
  const onError = cause => {
    if (!result.errors.includes(cause?.message)) result.failure ||= String(cause);
  };
  for await (const state of readUIMessageStream({ stream: watch(stream), onError })) {
    result.message = state;
    result.states++;
  }
} catch (cause) {
  result.failure = String(cause);
  result.status = cause?.statusCode ?? 0;
  result.body = cause?.responseBody;
}
console.log(JSON.stringify(result));
