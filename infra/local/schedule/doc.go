// Package schedule invokes functions by the clock, as rules of EventBridge (SAM's event type Schedule) and schedules of
// EventBridge Scheduler (ScheduleV2) do on AWS.
//
// What belongs here: when a schedule fires, what the function gets, what happens when it can't be had. What may not enter: how
// functions run (the runtime's), templates (the stack's), and anything about the application whose functions are invoked. What an
// expression means is package expression's.
//
// # When it fires
//
// A platform's start enables its schedules: a rule's rate fires first one period after it, a schedule's at once or at its
// StartDate, which is what the two services document. Cron fires at the minute. Each schedule has its own clock: none waits for
// another, nor for its own last invocation. What would have fired while nothing ran is not made up; while the machine slept, one
// firing is, however many were missed.
//
// # How it is delivered
//
// Both services invoke asynchronously: they hand the event over to Lambda, and what the function makes of it is Lambda's.
// A function that fails is tried again by Lambda, after one and two more minutes, within the bounds of its EventInvokeConfig (twice
// and six hours unless told); then the event is dropped and logged.
// An event that isn't taken in the first place (all instances are busy) is handed over again, with exponential back-off, within
// the schedule's MaximumRetryAttempts and MaximumEventAge; then, or at once where trying is of no use (there is no such
// function), it goes to the DeadLetterQueue. A schedule has at most 64 events under way: what fires beyond them is skipped and
// logged. What waits for a retry when the platform stops is lost, and logged.
//
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html,
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/configuring-schedule-dlq.html,
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html
package schedule
