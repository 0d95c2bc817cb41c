// Sends one chat message and reads the answer with the AI SDK, as a web page does.
//
//   node read.mjs < {"url", "cookie"?, "body": {"projectId", "message", ...}}
//
// Prints the fields of uistream.Message as one line of JSON. The times are in milliseconds.
import { DefaultChatTransport, readUIMessageStream } from 'ai';
import { text } from 'node:stream/consumers';

const { url, cookie, body } = JSON.parse(await text(process.stdin));
const { message, ...rest } = body;

// By default, the transport sends all messages of a chat. This API expects only the text of the last message.
const transport = new DefaultChatTransport({
  api: url + '/api/ai/chat/stream',
  headers: cookie ? { cookie } : {},
  prepareSendMessagesRequest: ({ messages, body }) => ({
    body: { ...body, message: messages.at(-1).parts.map(part => part.text).join('') },
  }),
});

const result = {
  chunks: 0,
  states: 0,
  firstMs: 0,
  lastMs: 0,
  finishReason: '',
  errors: [],
  failure: '',
  status: 0,
};
const startTime = performance.now();

// watch returns the same stream and records its frames in result.
function watch(stream) {
  const reader = stream.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        result.lastMs = performance.now() - startTime;
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
  // onError also receives error frames, which do not end the stream. Other errors mean that the SDK rejected a frame.
  const onError = cause => {
    if (!result.errors.includes(cause?.message)) result.failure ||= String(cause);
  };
  for await (const state of readUIMessageStream({ stream: watch(stream), onError })) {
    Object.assign(result, state); // id, role and parts
    result.states++;
  }
} catch (cause) {
  result.failure = String(cause);
  result.status = cause?.statusCode ?? 0;
  result.body = cause?.responseBody;
}
console.log(JSON.stringify(result));
