// Command jobs is the Lambda function that does work in the background: it builds deployments, removes the output of
// deployments, and writes the archives of exports. It receives messages from JobsQueue. Every minute, a schedule makes
// it look for jobs that wait for too long.
//
// All kinds of jobs share the function, the queue and the schedule, because they need the same memory and time. Message
// groups keep a user with many jobs from delaying the jobs of others.
package main

import "devplatform/shared/lambdafn"

func main() { lambdafn.Start(newHandler) }
