/**
 * Generated from the OpenAPI document by `npm run client`. Do not edit: `npm run check` compares it with the document.
 */
export interface paths {
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that the service is up
         * @description Answers as long as the Worker runs. It looks at no database and no provider.
         */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read this OpenAPI document
         * @description The document describes the deployment that serves it: what it lists is what is enforced.
         */
        get: operations["getOpenapiDocument"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the reference page
         * @description Shows this document to people, and lets them send requests with their own key.
         */
        get: operations["getReferencePage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/{file}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a file of the reference page
         * @description The scripts and the style sheet of the reference page.
         */
        get: operations["getReferenceFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sessions
         * @description Without parameters the most recently updated session comes first. Filters select some of the sessions, and all filters must hold. The list lags behind the sessions by a short delay. The access token of an end user lists that end user's sessions, without `metadata`.
         */
        get: operations["listSessions"];
        put?: never;
        /**
         * Create a session
         * @description Every field is optional. What the request leaves out comes from the tenant's settings, and then from the deployment's. The session keeps these settings when the defaults change later.
         */
        post: operations["createSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search sessions by words
         * @description Finds sessions by words in their titles and messages, best first, with up to three messages of each. Other forms of a word are found too, in the languages of `memory_query`. The answer lags behind the sessions by a short delay. The access token of an end user searches that end user's sessions alone.
         */
        post: operations["searchSessions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/by-external-id/{external_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the session that has an external id
         * @description Shows the same as reading the session by its id. The external id belongs to at most one session of the tenant.
         */
        get: operations["getSessionByExternalId"];
        /**
         * Get or create the session that has an external id
         * @description Returns the session that has the external id, unchanged whatever the body says, or creates it. Requests for the same id at once end in one session: one of them creates it, and the others get it.
         */
        put: operations["getOrCreateSession"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a session
         * @description Shows the settings, the size of the next request, the usage so far, and the turn that is open, if there is one. An access token is not shown `system`, `summary_instructions`, `tools`, `pins` and `metadata`.
         */
        get: operations["getSession"];
        put?: never;
        post?: never;
        /**
         * Erase a session with all its content
         * @description Ends the running turn and deletes every message, summary and output from every store. A store that is out of reach, or that has much of a long session, is reported as pending and is erased later, without another request. Erasing cannot be undone. The etag of a condition is that of the settings and pins, so it does not change when messages come. A session that is already erased meets any condition. `Location` is the erasure with its receipt.
         */
        delete: operations["eraseSession"];
        options?: never;
        head?: never;
        /**
         * Update a session
         * @description Changes the fields that the request names. Null clears a field; a null policy restores the current default of the tenant or the deployment. A turn that runs keeps the settings that it started with.
         */
        patch: operations["updateSession"];
        trace?: never;
    };
    "/v1/sessions/{session_id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List messages
         * @description Lists the whole conversation as people read it, whether or not the messages are in the model's view.
         */
        get: operations["listMessages"];
        put?: never;
        /**
         * Send a message
         * @description Records the message, and the model answers it in a turn. The turn runs to its end whether or not the client stays connected. `run: false` only appends a message, of any role, without a turn.
         */
        post: operations["sendMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/messages/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import messages
         * @description Appends up to 1,000 messages without turns, all or none. The items of a list of messages can be sent as they are. Refused with 409 while a turn is open or messages wait.
         */
        post: operations["importMessages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/messages/{message_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a message
         * @description Reads one message of any branch. The id of a call inside a reply returns the reply. A message that waits in the queue is not in the conversation yet, and is unknown here.
         */
        get: operations["getMessage"];
        put?: never;
        post?: never;
        /**
         * Cancel a queued message
         * @description Takes back a message that waits in the queue. A message whose turn has started is refused with 409; stop its turn instead.
         */
        delete: operations["cancelMessage"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/tool_results": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Submit results of client tools
         * @description Answers open calls of the model. The turn continues after the last open call is answered.
         */
        post: operations["submitToolResults"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve or refuse tool calls
         * @description Answers calls that wait for a person's approval. Approved calls run; the model reads that a call was refused, with the reason.
         */
        post: operations["resolveApprovals"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/respond": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add results, messages and their turn at once
         * @description Records the place, then the results, then the messages, and runs the turn that follows: all of them in one transaction, or none. Results of all open calls without messages let their turn go on. With messages, that turn ends, and a new one reads the results and the messages. A request without messages that names `model`, `system`, `generation` or `tools` must name all that differs from the session; if the turn was asked otherwise, a new one answers its message again.
         */
        post: operations["respond"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/turns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List turns
         * @description Lists the turns of all branches, those that are queued and under way too. By default the newest come first.
         */
        get: operations["listTurns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/turns/{turn_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a turn
         * @description Shows the state of a turn at any time, also after the client that started it went away.
         */
        get: operations["getTurn"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/turns/{turn_id}/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a turn's settings
         * @description Shows what a turn of any branch was asked with: the choices of its message over the session's settings at that time, and the client's note.
         */
        get: operations["getTurnSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop a turn
         * @description Ends the open turn, or the one that `turn_id` names, and keeps the partial reply, which is marked as incomplete. A named turn that is over stays as it is: nothing is stopped.
         */
        post: operations["stopTurn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry the last turn
         * @description Runs the last turn again after it failed, was stopped or was interrupted. A partial reply of the earlier attempt is taken back. The body may choose otherwise what the turn is asked with.
         */
        post: operations["retryTurn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/branches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List branches
         * @description A session begins with one branch. Going back, editing and regenerating each start another.
         */
        get: operations["listBranches"];
        put?: never;
        /**
         * Go back to a position
         * @description Starts a new branch after the position, which becomes the current one. Nothing is deleted: the branch that was left can be read and switched to.
         */
        post: operations["rewindSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/branches/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare two branches
         * @description By default, compares the current branch with the branch that it was created from.
         */
        get: operations["compareBranches"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/branches/{branch}/switch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Switch to another branch
         * @description Continues on a branch that was left. Later messages are added to it.
         */
        post: operations["switchBranch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/messages/{message_id}/edit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Edit a message
         * @description Puts other content in place of a user's message on a new branch, and runs a turn. The first version stays on its own branch.
         */
        post: operations["editMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/messages/{message_id}/regenerate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Regenerate an answer
         * @description Answers a user's message again on a new branch. The id is that of the message or of an answer to it. The body may choose otherwise what the turn is asked with.
         */
        post: operations["regenerateMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/messages/{message_id}/redact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Redact a message
         * @description Deletes the content of a message and of its calls permanently, with every summary made from it. The id of a later call, or of a result, names that alone. The message keeps its position. Redacting cannot be undone.
         */
        post: operations["redactMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fork a session
         * @description Creates a new session with a copy of this one's history. Neither session sees later messages of the other.
         */
        post: operations["forkSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the live stream
         * @description Sends the frames of the session as server-sent events as they are produced. A client that reconnects with `Last-Event-ID` or `after` misses nothing. A client that disconnects stops nothing.
         */
        get: operations["streamSession"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the log, or follow it
         * @description Reads a page of the session's events. With `Accept: text/event-stream`, sends the events as they are appended; the id of each is its `seq`. Events hold ids, sizes and numbers, and no content.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/compactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List compactions
         * @description Each compaction has a receipt that says what it freed and what it cost.
         */
        get: operations["listCompactions"];
        put?: never;
        /**
         * Compact now
         * @description Makes room in the model's view. `dry_run` only shows the plan, and `draft` makes a summary that takes effect when it is committed. A compaction that needs a model runs in the background.
         */
        post: operations["createCompaction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/compactions/{compaction_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a compaction
         * @description Shows one compaction. For a draft, the receipt says what committing it now would do.
         */
        get: operations["getCompaction"];
        put?: never;
        post?: never;
        /**
         * Discard a draft
         * @description Ends a draft, or a compaction that is still producing one. The view was never changed.
         */
        delete: operations["discardDraft"];
        options?: never;
        head?: never;
        /**
         * Edit a draft
         * @description Replaces the summary of a draft. `edits` names the version that the client read: a draft that changed since then is refused with 409.
         */
        patch: operations["editDraft"];
        trace?: never;
    };
    "/v1/sessions/{session_id}/context": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a request to the model
         * @description Shows the exact next request, or with `turn` the exact request of a past turn, byte for byte, and the tokens of its parts. Nothing is sent or stored.
         */
        get: operations["getContext"];
        put?: never;
        /**
         * Show the request that a message would cause
         * @description Shows the exact next request with this user message added. Nothing is sent or stored. The message is in the body, so that it does not appear in logs of URLs.
         */
        post: operations["previewContext"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/context/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare two requests to the model
         * @description Shows what left the model's view between two requests, what came into it, and what is shown differently, without content.
         */
        get: operations["compareContexts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/recall": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search the record
         * @description Finds items by words, by the id of a call or by position, whether or not they are in the model's view. URLs are often logged: use POST for private text.
         */
        get: operations["recall"];
        put?: never;
        /**
         * Search the record with a query in the body
         * @description Searches like `GET`, with the query in the body, so that it does not appear in logs of URLs.
         */
        post: operations["recallByBody"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive a session
         * @description Takes the session out of the default list. Nothing of it is removed: it can be read, searched, exported, forked and erased, and the next message or change brings it back. A session in use is refused: stop its turn first. Archiving is no use of the session, so `updated_at` stays. A repetition changes nothing.
         */
        post: operations["archiveSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/unarchive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Bring an archived session back
         * @description Brings the session back to the default list, as a message or a change does too. A repetition changes nothing.
         */
        post: operations["unarchiveSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/compactions/{compaction_id}/revert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revert the newest compaction
         * @description Brings back what the compaction removed from the view. Later messages stay in the view. It is refused if the next request would not fit.
         */
        post: operations["revertCompaction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Reset the summary
         * @description Removes every summary from the view. As many of the newest messages as fit return to it.
         */
        delete: operations["resetSummary"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/pins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the pins
         * @description Shows the pinned texts in order, and the message that each was copied from. A PUT takes the answer as it is.
         */
        get: operations["getPins"];
        /**
         * Set the pins
         * @description Replaces all pins, which every request contains. An empty list clears them. Of a message the words are copied now: of a reply with its calls and their results, of a call with its result, of a result with its call. A pin goes with the redaction of a message that it was copied from.
         */
        put: operations["setPins"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List schedules
         * @description Lists the session's schedules, with those that will not run again.
         */
        get: operations["listSchedules"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/schedules/{schedule_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a schedule
         * @description Shows when the schedule runs next, and how its last run went.
         */
        get: operations["getSchedule"];
        /**
         * Set a schedule
         * @description Submits the message as the user's at the time `at`, or whenever `cron` matches, and starts a turn. Times that pass while the service is away run once. A run that cannot start its turn is tried again for 15 minutes, and then skipped.
         */
        put: operations["putSchedule"];
        post?: never;
        /**
         * Remove a schedule
         * @description A turn that it has started goes on.
         */
        delete: operations["deleteSchedule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/compactions/{compaction_id}/commit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Commit a draft
         * @description The draft's summary takes effect. It is refused if the conversation changed in the part that the summary covers.
         */
        post: operations["commitDraft"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/compactions/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Compare two summaries
         * @description Compares two summaries by text, by the terms that they keep, and by their answers to questions. Each question costs two calls of a model; without questions no model is called.
         */
        post: operations["compareSummaries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/executions/{execution_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a tool call
         * @description Shows a call with its arguments, output and artifacts, whichever session it belongs to. It becomes available shortly after the call.
         */
        get: operations["getExecution"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/executions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a session's tool calls
         * @description Lists calls with their status, in order of position.
         */
        get: operations["listExecutions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List policies
         * @description Lists the named policies, the four profiles first: what each is for, when it compacts, and what it keeps. `include=parameters` adds their values and a description of every parameter.
         */
        get: operations["listPolicies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policies/{policy_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a policy
         * @description Shows a named policy with all its values.
         */
        get: operations["getPolicy"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policies/evaluate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Evaluate another policy
         * @description Plays a session's log under another policy: what it would have cost, and what would have left the view. No model is called, and nothing is changed.
         */
        post: operations["evaluatePolicy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sum up usage
         * @description Sums the tenant's model calls in a period, by day, session, model, purpose, key or end user. The sums follow the calls with a short delay.
         */
        get: operations["listUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a session's model calls
         * @description Lists every call with its tokens and cost: turns, summaries, titles and comparisons.
         */
        get: operations["listModelCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API keys
         * @description Lists all keys of the tenant, including revoked ones, without their secrets.
         */
        get: operations["listKeys"];
        put?: never;
        /**
         * Create an API key
         * @description The new key's scopes and expiry must not exceed those of the calling key. The secret is shown by this answer only.
         */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{key_id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate an API key
         * @description Creates a key with the same name, scopes and expiry, and ends the old one after the overlap, in which both are valid. A key may rotate itself; it rotates others only if it has all their scopes and expires no sooner. A key is rotated once: rotate its successor next.
         */
        post: operations["rotateKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description The calling key must have all scopes of the key that it revokes. Cached checks of the key expire within 30 seconds.
         */
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an access token
         * @description Makes a short-lived token that a browser holds in place of a key. It opens one session, or the sessions of one end user, and there only the operations on which a person chats. It cannot be revoked: it is valid until it expires, also after its key was revoked.
         */
        post: operations["createAccessToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List models
         * @description Lists the deployment's models and the tenant's own. The model lists of OpenAI's and Anthropic's SDKs read this answer. With the header `anthropic-version` it has the form of Anthropic's API alone.
         */
        get: operations["listModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models/{model_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a model
         * @description Shows a model's limits and prices, with the source of each figure.
         */
        get: operations["getModel"];
        /**
         * Add or replace a model
         * @description Adds a model of the tenant, or overrides one of the deployment. The request replaces the earlier entry as a whole. Sessions use the change within 30 seconds.
         */
        put: operations["putModel"];
        post?: never;
        /**
         * Delete a model
         * @description Deletes a model of the tenant, or the tenant's override of one of the deployment. Sessions that use a deleted model fail until they name another.
         */
        delete: operations["deleteModel"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models/{model_id}/probe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask for a model's limits
         * @description Asks the provider for the model's limits, and stores the answer as a suggestion. Nothing else changes.
         */
        post: operations["probeModel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List credentials
         * @description Lists credentials by name. Keys are never returned.
         */
        get: operations["listCredentials"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials/{credential_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Store or replace a credential
         * @description Stores an API key of a provider or a tool, sealed. Calls use the new key within 30 seconds.
         */
        put: operations["putCredential"];
        post?: never;
        /**
         * Delete a credential
         * @description Within 30 seconds, calls of models and tools that use it fail.
         */
        delete: operations["deleteCredential"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tenants/{tenant_id}/credentials/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Seal credentials anew
         * @description Encrypts a tenant's credentials with the current master key. Credentials that no known key opens are listed.
         */
        post: operations["rotateCredentials"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List HTTP tools
         * @description Lists the tenant's HTTP tools.
         */
        get: operations["listTools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/{tool_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an HTTP tool
         * @description Shows the definition that the model reads, and how the service calls the tool.
         */
        get: operations["getTool"];
        /**
         * Register or replace an HTTP tool
         * @description Registers a URL that the service calls when the model asks for it. A session offers the tool when its `tools` name it, and keeps the definition that it found then.
         */
        put: operations["putTool"];
        post?: never;
        /**
         * Delete an HTTP tool
         * @description Within 30 seconds, calls to it fail.
         */
        delete: operations["deleteTool"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/mcp_servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List MCP servers
         * @description Lists the tenant's MCP servers with the tools found last.
         */
        get: operations["listMcpServers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/mcp_servers/{server_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an MCP server
         * @description Shows a server with the tools that it listed last.
         */
        get: operations["getMcpServer"];
        /**
         * Register or replace an MCP server
         * @description Registers a remote MCP server, and asks it for its tools. A server that does not answer is refused and not stored.
         */
        put: operations["putMcpServer"];
        post?: never;
        /**
         * Delete an MCP server
         * @description Within 30 seconds, calls to its tools fail.
         */
        delete: operations["deleteMcpServer"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/mcp_servers/{server_name}/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List an MCP server's tools again
         * @description Asks the server for its tools. Sessions keep their tool definitions until their tools are set again.
         */
        post: operations["refreshMcpServer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List channels
         * @description Lists the tenant's channels. Secrets are never returned.
         */
        get: operations["listChannels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/{channel_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a channel
         * @description Shows the settings of a channel, the names of its secrets, and where its platform sends webhooks.
         */
        get: operations["getChannel"];
        /**
         * Create or replace a channel
         * @description Stores the settings of a bot on a chat platform. A field that is not named has its default, except for `credentials`: without them the stored ones stay. New sessions have the new model, policy, system prompt and tools.
         */
        put: operations["putChannel"];
        post?: never;
        /**
         * Delete a channel
         * @description Removes the channel with its secrets, paired users and log, and empties its chats. Its webhooks are refused within 30 seconds. Its sessions stay.
         */
        delete: operations["deleteChannel"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/{channel_name}/pairing-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a pairing code
         * @description Makes a code for one person, who sends it to the bot within an hour and may talk to it from then on. The channel's `access.mode` must be `pairing`. The code is shown this once.
         */
        post: operations["createPairingCode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/{channel_name}/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List paired users
         * @description Lists the people who sent a pairing code. Those that the channel's `access.users` names are not among them.
         */
        get: operations["listPairedUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/{channel_name}/users/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Unpair a user
         * @description Within 30 seconds the bot does not answer the person any more. Their sessions stay.
         */
        delete: operations["unpairUser"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/{channel_name}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a channel's log
         * @description Lists why the bot did not answer: replies and attachments that failed, deliveries that were ignored, signatures that were refused. At most 1,000 entries and 30 days are kept. It holds ids, never messages.
         */
        get: operations["listChannelLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List files
         * @description Lists the tenant's files by the time of their upload.
         */
        get: operations["listFiles"];
        put?: never;
        /**
         * Upload a file
         * @description The body is the content, with its `Content-Length`. It is stored while it arrives. Its type is found by its first bytes: PNG, JPEG, GIF, WebP, PDF, or text in UTF-8. The file ends after 24 hours unless a message refers to it. An idempotency key does not make a file again that was deleted since: the answer is 404.
         */
        post: operations["uploadFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{file_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a file
         * @description Shows what is known of a file: its type, size and digest, and how many sessions refer to it.
         */
        get: operations["getFile"];
        put?: never;
        post?: never;
        /**
         * Delete a file
         * @description The file is unreadable at once, whatever refers to it. A message that refers to it keeps its place and names the file.
         */
        delete: operations["deleteFile"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{file_id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the content of a file
         * @description Returns the bytes as they were sent, always as a download. A signed address is accepted in place of a key.
         */
        get: operations["downloadFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{file_id}/url": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a signed address of a file
         * @description The address reads the content without a key until it expires, or until the file is deleted.
         */
        post: operations["signFileUrl"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tenants/{tenant_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a tenant
         * @description Shows a tenant as its object knows it: settings, models and keys, without secrets.
         */
        get: operations["getTenantExport"];
        put?: never;
        post?: never;
        /**
         * Delete a tenant with all that it has
         * @description The tenant's keys are refused from now on, and its id is never given out again. Its sessions, files, models, credentials, tools and settings are erased from every store. Sums of usage stay for invoices, and the receipt. The request can be repeated at any time and returns the same erasure. Erasing cannot be undone.
         */
        delete: operations["deleteTenant"];
        options?: never;
        head?: never;
        /**
         * Set a tenant's plan, limits and budgets
         * @description Changes the fields that the request names; a null removes. The change is sent to the tenant's object at once, and again until that has confirmed it. `limits` and `budgets` are the tenant's own, need no plan, and replace earlier ones of its own as a whole.
         */
        patch: operations["assignPlan"];
        trace?: never;
    };
    "/v1/admin/tenants/{tenant_id}/erasures/{erasure_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an erasure of a tenant
         * @description Shows an erasure of the tenant, also that of the tenant itself after it is done.
         */
        get: operations["getTenantErasure"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/end-users/{end_user}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an end user
         * @description Shows the number of the end user's sessions, the usage of this month, the limits that apply with what is used of them, and where the rest is found. Sessions and usage follow with a short delay. While an erasure of the end user runs, there is none.
         */
        get: operations["getEndUser"];
        put?: never;
        post?: never;
        /**
         * Erase all sessions of an end user
         * @description Erases the sessions that the end user has now, with their files, and ends the access tokens that were made for the end user until now. Sessions that are created later are not erased. The usage stays, without the end user. The request can be repeated at any time: while the erasure runs it returns the same one. Erasing cannot be undone.
         */
        delete: operations["eraseEndUser"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/erasures/{erasure_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an erasure
         * @description Shows how far the erasure is in each store, and what may remain outside of this service.
         */
        get: operations["getErasure"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/erasures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List erasures
         * @description Lists erasures by the time when they were asked for. A finished one stays as its receipt.
         */
        get: operations["listErasures"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/end-users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List end users
         * @description Lists the end users whom sessions have, in order of their ids, with the number of their sessions and the last use. A new session is counted after a short delay. An end user whose erasure was asked for is left out at once, so that a page may have fewer than `limit`.
         */
        get: operations["listEndUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the retention rules
         * @description Shows what the tenant removes by its age. A tenant has no rule until it puts one.
         */
        get: operations["getRetention"];
        /**
         * Replace the retention rules
         * @description Replaces all rules: one that is not named ends. They apply to the sessions that exist and to later ones. After a change nothing is removed for a day, so that a mistake can be mended. What was removed cannot be restored.
         */
        put: operations["putRetention"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retention/dry-run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Show what the retention rules would remove now
         * @description Asks sessions that are old enough, in order of their ids, what the rules would remove of them now. Nothing changes. A page may be empty although another follows: read on while has_more is true.
         */
        post: operations["previewRetention"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/exports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List exports
         * @description Lists the tenant's exports, newest first.
         */
        get: operations["listExports"];
        put?: never;
        /**
         * Export sessions, or the tenant
         * @description Begins an export of one session, of all sessions of an end user, or of the tenant: its settings and all its sessions. It is made in the background.
         */
        post: operations["createExport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/exports/{export_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an export
         * @description Shows how far the export is. When it is ready, `download_url` reads its file.
         */
        get: operations["getExport"];
        put?: never;
        post?: never;
        /**
         * Delete an export
         * @description Ends an export, whether it is ready or not. It cannot be read any more at once.
         */
        delete: operations["deleteExport"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/exports/{export_id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the file of an export
         * @description Returns the lines as a download. A signed address is accepted in place of a key. A key that may not read all settings of the export is refused.
         */
        get: operations["downloadExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/imports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List imports
         * @description Lists the tenant's imports in the background, newest first.
         */
        get: operations["listImports"];
        put?: never;
        /**
         * Restore an export
         * @description The body is the file of an export, read while it arrives. Its settings come first; one that the tenant has otherwise is left as it is, unless `settings` says replace. Each session is restored whole, under its own id, or not at all; a session of an id that the tenant knows is left as it is.
         */
        post: operations["importSessions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/imports/background": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore a stored export in the background
         * @description Begins an import of an export that this deployment stores, of any size: one of this tenant by its id, or one of another tenant by its signed address. Nothing is fetched from elsewhere. It may be repeated: what is there already says exists.
         */
        post: operations["beginImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/imports/{import_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an import
         * @description Shows how far the import is.
         */
        get: operations["getImport"];
        put?: never;
        post?: never;
        /**
         * End an import
         * @description Ends an import that is under way, and removes its report. What it restored stays.
         */
        delete: operations["deleteImport"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/imports/{import_id}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what an import did
         * @description Lists what became of each setting and session, in order of the file's lines, as far as the import is.
         */
        get: operations["getImportReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhook endpoints
         * @description Lists the tenant's endpoints, without their secrets.
         */
        get: operations["listWebhookEndpoints"];
        put?: never;
        /**
         * Create a webhook endpoint
         * @description The endpoint is sent every event of its types that is committed after this answer. The secret is shown by this answer only.
         */
        post: operations["createWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints/{endpoint_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a webhook endpoint
         * @description Shows the endpoint, and since when it fails.
         */
        get: operations["getWebhookEndpoint"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook endpoint
         * @description Removes the endpoint with its secret and its log of deliveries. What waits for it is not sent.
         */
        delete: operations["deleteWebhookEndpoint"];
        options?: never;
        head?: never;
        /**
         * Change a webhook endpoint
         * @description Changes the fields that it names. An endpoint that is enabled again is sent what happens from then on; replay what failed.
         */
        patch: operations["updateWebhookEndpoint"];
        trace?: never;
    };
    "/v1/webhook_endpoints/{endpoint_id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the secret of a webhook endpoint
         * @description Makes another secret. During the overlap each delivery has a signature of both. When the answer was lost, rotate again: the secret that the receiver has signs as long as before.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints/{endpoint_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event
         * @description Sends an event of the type `webhook.test` to this endpoint, once. Read the delivery for what came of it.
         */
        post: operations["testWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints/{endpoint_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries
         * @description Lists what the endpoint was sent, the newest first. Deliveries are kept for 30 days, and 10,000 of each endpoint.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints/{endpoint_id}/deliveries/{delivery_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a delivery
         * @description Shows the body as it is sent, and each try with the beginning of its answer.
         */
        get: operations["getWebhookDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints/{endpoint_id}/deliveries/{delivery_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again
         * @description Sends the same event again under the same `webhook-id`, whatever came of it before, and begins the schedule of retries anew.
         */
        post: operations["replayWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints/{endpoint_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send again what failed
         * @description Sends deliveries again that failed and were made at `since` or later, 1,000 at a time. While `has_more` is true, ask again.
         */
        post: operations["replayWebhookDeliveries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenant": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the tenant's settings
         * @description Any valid key may read the settings of its own tenant.
         */
        get: operations["getTenant"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Update the tenant's settings
         * @description Changes the fields that the request names. A null returns to the deployment's. Sessions that exist keep their own settings.
         */
        patch: operations["updateTenant"];
        trace?: never;
    };
    "/v1/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the caller's limits
         * @description To a key: every limit of the tenant and of the key, with what is used of it. To the access token of an end user: the limits of that end user alone. An empty list: no limit.
         */
        get: operations["listLimits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List budgets with what is spent
         * @description Lists the tenant's budgets in their present period. With `end_user` or `session_id`: those of that end user and of that session instead.
         */
        get: operations["listBudgets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the tenant's events
         * @description Lists what happened in the tenant and concerns no single session, each once, the oldest first. Events are kept for 90 days.
         */
        get: operations["listTenantEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the audit log
         * @description Lists who changed what, when, with which key and by which request. The newest entry comes first. With `Accept: application/x-ndjson`, sends all entries, or those after `after`, as lines of JSON that can be verified; the other parameters are then refused.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the deployment's audit log
         * @description Lists which admin changed what of the deployment and of its tenants, when, with which key and by which request. Tenants and sessions have their ids only. The newest entry comes first. With `Accept: application/x-ndjson`, sends all entries, or those after `after`, as lines of JSON that can be verified; the other parameters are then refused.
         */
        get: operations["listDeploymentAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tenants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tenants
         * @description The newest tenant comes first by default. A tenant that was renamed has its new name within seconds.
         */
        get: operations["listTenants"];
        put?: never;
        /**
         * Create a tenant
         * @description Creates a tenant without keys, and enters it in the list of tenants. Create its first key next.
         */
        post: operations["createTenant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tenants/{tenant_id}/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an API key of a tenant
         * @description By default the key has all scopes. The secret is shown by this answer only.
         */
        post: operations["createTenantKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tenants/rebuild": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Repair the list of tenants
         * @description Enters the tenants that have a row in the read model and are missing in the list, as after a creation that was cut off. Each tenant's own object says what is entered. Many tenants continue with `next_cursor`.
         */
        post: operations["rebuildTenantList"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/plans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tenant plans
         * @description Lists the named sets of limits and budgets that can be assigned to tenants.
         */
        get: operations["listPlans"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/plans/{plan_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a tenant plan
         * @description Shows the plan's limits and budgets.
         */
        get: operations["getPlan"];
        /**
         * Create or replace a tenant plan
         * @description Replaces the plan's limits and budgets as a whole. A plan that says the same already keeps its version.
         */
        put: operations["putPlan"];
        post?: never;
        /**
         * Delete a tenant plan
         * @description Removes a plan that no tenant has.
         */
        delete: operations["deletePlan"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tenants/{tenant_id}/suspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Suspend a tenant
         * @description Refuses all keys and access tokens of the tenant, and ends its turns. What was said is kept. Isolates that have a key cached refuse it within 30 seconds; running turns end within 10. A suspended tenant stays as it is.
         */
        post: operations["suspendTenant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tenants/{tenant_id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a tenant
         * @description Lets the tenant's keys and access tokens open what they opened before. A turn that the suspension ended can be retried.
         */
        post: operations["resumeTenant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List admin keys
         * @description Lists all admin keys, including those that ended, without their secrets. ADMIN_KEY is not among them.
         */
        get: operations["listAdminKeys"];
        put?: never;
        /**
         * Create an admin key
         * @description The new key must not outlive the calling key. The secret is shown by this answer only.
         */
        post: operations["createAdminKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an admin key
         * @description Shows the key without its secret.
         */
        get: operations["getAdminKey"];
        put?: never;
        post?: never;
        /**
         * Revoke an admin key
         * @description A key that outlives the calling key, and without ADMIN_KEY the owner that lasts longest, cannot be revoked. Cached checks of the key expire within 30 seconds.
         */
        delete: operations["revokeAdminKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/keys/{key_id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace an admin key
         * @description Creates a key with the same name, role and expiry, and lets the old one end after the overlap. The secret is shown by this answer only. A key is rotated once: its successor is rotated next.
         */
        post: operations["rotateAdminKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tenants/{tenant_id}/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a tenant's sessions
         * @description The newest session comes first. `source` chooses the tenant's directory or the rows of the read model.
         */
        get: operations["listTenantSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tenants/{tenant_id}/sessions/{session_id}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export a session's log
         * @description Reads a page of the log with the content that its events refer to.
         */
        get: operations["exportSessionLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tenants/{tenant_id}/sessions/{session_id}/rebuild": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Repair a session's rows
         * @description Compares a session's rows in the read model with its log, and repairs differences. A long session continues with `next_cursor`. Texts that differ are shown to an owner, and to others as `[hidden]`.
         */
        post: operations["rebuildSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tenants/{tenant_id}/rebuild": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Repair a tenant's rows
         * @description Compares a tenant's row and its models' rows with the tenant's object, and repairs differences. Sessions are not compared.
         */
        post: operations["rebuildTenant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/databases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List databases
         * @description The databases of the read model with their sizes, as each of them says. A database holds 10 GB.
         */
        get: operations["listDatabases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tenants/{tenant_id}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read where a tenant's rows are
         * @description Shows the tenant's database, and the move that is under way.
         */
        get: operations["getTenantMove"];
        put?: never;
        /**
         * Move a tenant to another database
         * @description Begins the move, or runs the next bounded step of the one that is under way. Send it again after `wait_ms`, until `move` is null: `npm run move-tenant` does. Requests that are cut off and repeated do no harm. Chat, lists and searches go on.
         */
        post: operations["moveTenant"];
        /**
         * Cancel a tenant's move
         * @description Before the switch, the tenant stays in its database, and the other one is emptied by the next steps: send the POST with the tenant's own database. Without a move nothing changes.
         */
        delete: operations["cancelTenantMove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Problem: {
            type: string;
            title: string;
            status: number;
            detail: string;
            /** @description The id of the request in the logs, and in the header x-request-id */
            request_id: string;
            errors?: {
                /** @description The field's path as the client wrote it (`results.0.output`), the name of a header, or of a parameter of the path or query, or `body` */
                field: string;
                detail: string;
            }[];
        } & {
            [key: string]: unknown;
        };
        Session: {
            /** @description The id of a session */
            id: string;
            model: string;
            policy: ("oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim") | {
                /** @enum {string} */
                preset?: "oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim";
                trigger?: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at?: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio?: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio?: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound?: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor?: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens?: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio?: number;
                };
                keep?: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio?: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of?: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens?: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens?: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages?: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio?: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens?: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut?: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages?: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages?: boolean;
                };
                results?: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars?: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut?: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear?: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full?: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio?: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond?: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars?: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools?: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools?: string[];
                };
                summary?: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form?: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement?: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens?: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio?: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after?: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode?: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact?: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts?: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models?: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms?: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions?: string | null;
                };
                tools?: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds?: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall?: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models?: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure?: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window?: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator?: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio?: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model?: string | null;
            };
            effective_policy: {
                trigger: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio: number;
                };
                keep: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages: boolean;
                };
                results: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools: string[];
                };
                summary: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions: string | null;
                };
                tools: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model: string | null;
            };
            /** @description What summaries should pay attention to. It takes precedence over summary.instructions of the policy. Null: the policy's */
            summary_instructions: string | null;
            system: string | null;
            tools: components["schemas"]["ToolDefinition"][];
            /** @description Texts that every request to the model repeats, before the summaries */
            pins: components["schemas"]["Pin"][];
            title: string | null;
            /** @description The client's own id of the session, unique in the tenant. Null: none */
            external_id: string | null;
            /** @description The client's id of the person who talks. Null: none */
            end_user: string | null;
            metadata: {
                [key: string]: string;
            };
            generation: {
                /** @description Randomness of the choice of words. Anthropic takes at most 1 */
                temperature?: number;
                /** @description The share of the likeliest words to choose from */
                top_p?: number;
                /** @description The most tokens of each reply. The model's own maximum holds where it is smaller */
                max_output_tokens?: number;
                /** @description The reply ends before the first of these texts */
                stop?: string[];
                /** @description The same seed gives the same reply, as far as the provider keeps to it */
                seed?: number;
                /** @description Whether the model calls a tool. A forced call holds for the first reply of a turn; after the results the model is free */
                tool_choice?: ("auto" | "none" | "required") | {
                    name: string;
                };
                /** @description Whether one reply may hold several calls */
                parallel_tool_calls?: boolean;
                /** @description The form of the reply's text */
                response_format?: {
                    /** @enum {string} */
                    type: "text";
                } | {
                    /** @enum {string} */
                    type: "json";
                } | {
                    /** @enum {string} */
                    type: "json_schema";
                    name: string;
                    /** @description The JSON Schema of the reply */
                    schema: {
                        [key: string]: unknown;
                    };
                    /** @description The provider must enforce the schema. Default: false */
                    strict?: boolean;
                };
                /** @description How much the model thinks before it replies */
                reasoning?: {
                    /** @enum {string} */
                    effort: "none" | "minimal" | "low" | "medium" | "high";
                };
            };
            /** @description The etag of the settings and pins, as in the header ETag. It does not change when messages come; a title that a model makes changes it */
            etag: string;
            /** @description Epoch milliseconds */
            created_at: number;
            /** @description Epoch milliseconds */
            updated_at: number;
            /** @description When the session was archived. Null: it is not. The next message or change brings an archived session back */
            archived_at: number | null;
            message_count: number;
            epoch: number;
            /** @description The number of the current branch */
            branch: number;
            /** @description The number of branches */
            branches: number;
            /** @description The source of a fork, and the last position shared with it. Null if the session is not a fork */
            forked_from: {
                /** @description The id of a session */
                session_id: string;
                at: number;
            } | null;
            /** @description All summaries in the view as one text. Null if there is none */
            compacted_summary: string | null;
            compact_boundary_timestamp: number | null;
            context_window: number | null;
            /** @description The window that the policy assumes for an unknown one */
            assumed_window: number | null;
            /** @description The size of the next request */
            current_context_tokens: {
                tokens: number;
                /**
                 * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                 * @enum {string}
                 */
                source: "reported" | "estimated" | "mixed";
                /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                error_bound: number;
            };
            /** @description Tokens that all calls together read and wrote. Each call counts its whole context again, so this is a billing total; current_context_tokens is the size */
            total_tokens: number;
            usage: {
                calls: number;
                /** @description Calls that ended by a failure, a stop or a crash */
                failed_calls: number;
                /** @description The sum of uncached, cached and cache_write */
                input: number;
                uncached: number;
                /** @description Read from the provider's cache */
                cached: number;
                /** @description Written to the provider's cache */
                cache_write: number;
                /** @description Reasoning included */
                output: number;
                reasoning: number;
                /** @description US dollars of the calls with a known cost. Null if no call has one */
                cost: number | null;
                /** @description Calls whose cost is unknown, because a price or a count is missing. `cost` leaves them out */
                unpriced_calls: number;
                cost_complete: boolean;
            };
            breaker: components["schemas"]["CompactionBreaker"];
            turn: {
                /** @description The id of a turn */
                id: string;
                /** @enum {string} */
                phase: "generating" | "running_tools" | "awaiting_tools";
                open_calls: {
                    /** @description The id of its execution, which results and approvals name as `execution_id` */
                    id: string;
                    /** @description The provider's own id of the call, which may repeat */
                    call_id: string;
                    name: string;
                    /** @description JSON text, as the model wrote it */
                    arguments: string;
                    /**
                     * @description Which side runs the call. A client sends results of its own calls only
                     * @enum {string}
                     */
                    runs: "client" | "server";
                    /**
                     * @description `pending`: the call runs after a person approves it. Null if it is not waiting for approval
                     * @enum {string|null}
                     */
                    approval: "pending" | null;
                }[];
            } | null;
            last_turn: {
                /** @description The id of a turn */
                id: string;
                /** @enum {string} */
                status: "completed" | "failed" | "stopped" | "interrupted";
                failure: {
                    /** @enum {string} */
                    kind: "overflow" | "output_cap" | "payload" | "rate_limit" | "quota" | "media" | "invalid_param" | "auth" | "not_found" | "region" | "refused" | "unavailable" | "timeout" | "aborted" | "cannot_fit" | "round_limit" | "no_progress" | "budget" | "suspended" | "storage_full" | "unknown_model" | "crashed" | "internal";
                    /** @description The provider's HTTP status. Null if the provider did not answer */
                    status: number | null;
                    fit?: {
                        /** @description Tokens that no compaction can remove */
                        floor: number;
                        /** @description The most tokens of a request to the model */
                        limit: number;
                        /** @description The largest parts of the request */
                        biggest: {
                            what: string;
                            tokens: number;
                            bytes?: number;
                        }[];
                        /** @description Present if bytes are the reason: the bytes that no compaction can remove, and the most bytes of a request. `limit` is then the same bound in tokens */
                        bytes?: {
                            floor: number;
                            limit: number;
                        };
                    };
                    /** @description Present if the request was not sent because its body was too large: its bytes (floor) and the most bytes (limit) */
                    bytes?: {
                        floor: number;
                        limit: number;
                    };
                    /** @description Tokens that would fit, as the provider reported: of the request (overflow) or of the reply (output_cap) */
                    limit?: number;
                    /** @description The wait that the provider asked for, on the last attempt */
                    retry_after_ms?: number;
                    /** @description The provider's own code and type of the failure, and the part of the request that it names, where they are identifiers */
                    reported?: {
                        code?: string;
                        type?: string;
                        param?: string;
                        /** @description The beginning of what the provider said, at most 300 characters, without secrets. Present only if the tenant's own credential or address was called, until the next redaction */
                        message?: string;
                    };
                    /** @description Why the turn failed, for people, by the class of the failure */
                    detail: string;
                    /** @description What can be done, for people. The message is kept, so it must not be sent again */
                    remedy: string;
                } | null;
            } | null;
            queued: {
                /** @description The id of a message */
                id: string;
                /** @description The id of a turn */
                turn_id: string | null;
            }[];
            /** @description Offset of the newest frame of the live stream */
            stream_offset: number;
        };
        ToolDefinition: {
            name: string;
            description?: string;
            parameters: {
                [key: string]: unknown;
            };
            /** @description Absent if the client runs the tool */
            runs?: {
                /** @enum {string} */
                by: "http";
                tool: string;
            } | {
                /** @enum {string} */
                by: "mcp";
                server: string;
                tool: string;
            } | {
                /** @enum {string} */
                by: "builtin";
            };
            /**
             * @description A person approves each call before it runs
             * @enum {boolean}
             */
            needs_approval?: true;
            /** @description What the tool does to a file. If absent, it is guessed from the tool's name */
            files?: {
                /** @enum {string} */
                op: "read" | "write" | "edit";
                /** @description The argument that names the file, or a list of files */
                path: string;
            };
        };
        Pin: {
            /** @description What every request repeats. Of a message: a copy of its words, with a label */
            text: string;
            /** @description The message that the text was copied from. Null for a text of the client's own */
            message_id: string | null;
            /** @description The place of that message */
            position: number | null;
        };
        CompactionBreaker: {
            /** @description While the breaker is open, no model is asked for a summary */
            open: boolean;
            /** @description Compactions that failed for good since the last one that made progress */
            failures: number;
            /** @description Consecutive summaries that freed less than a tenth */
            fruitless: number;
            /** @description Tokens (raw estimate) to be added before a model is asked again. Null if the breaker is closed */
            closes_after: number | null;
        };
        CreateSession: {
            model?: string;
            policy?: ("oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim") | {
                /** @enum {string} */
                preset?: "oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim";
                trigger?: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at?: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio?: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio?: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound?: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor?: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens?: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio?: number;
                };
                keep?: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio?: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of?: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens?: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens?: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages?: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio?: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens?: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut?: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages?: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages?: boolean;
                };
                results?: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars?: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut?: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear?: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full?: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio?: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond?: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars?: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools?: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools?: string[];
                };
                summary?: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form?: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement?: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens?: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio?: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after?: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode?: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact?: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts?: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models?: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms?: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions?: string | null;
                };
                tools?: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds?: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall?: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models?: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure?: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window?: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator?: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio?: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model?: string | null;
            };
            system?: string | null;
            tools?: (components["schemas"]["ClientTool"] | components["schemas"]["HttpToolOffer"] | components["schemas"]["McpToolsOffer"])[] | null;
            title?: string | null;
            /** @description What each summary should pay attention to and how to word it, at most 4,000 characters. It is added to the summariser's rules, which stay in force, and takes precedence over summary.instructions of the policy */
            summary_instructions?: string | null;
            /** @description At most 16 entries; names of 64, values of 512 characters */
            metadata?: {
                [key: string]: string;
            };
            generation?: components["schemas"]["Generation"];
            /** @description The client's id of the person who talks */
            end_user?: string | null;
            /** @description The client's own id of the session, unique in the tenant */
            external_id?: string | null;
        };
        ClientTool: {
            /**
             * @description The client runs it, and gives its results back
             * @enum {string}
             */
            type?: "client";
            name: string;
            /** @description What the model reads of it */
            description?: string;
            /** @description A JSON Schema of type object, of at most 32768 characters, without circles of references */
            parameters: {
                [key: string]: unknown;
            };
            /** @description What the tool does to a file. If absent, it is guessed from the tool's name */
            files?: {
                /** @enum {string} */
                op: "read" | "write" | "edit";
                /** @description The argument that names the file, or a list of files */
                path: string;
            };
        };
        HttpToolOffer: {
            /** @enum {string} */
            type: "http";
            /** @description Of one that the tenant registered */
            name: string;
        };
        McpToolsOffer: {
            /** @enum {string} */
            type: "mcp";
            /** @description Of one that the tenant registered */
            server: string;
            /** @description By the server's own names; absent: all that it was found to have */
            tools?: string[];
        };
        /** @description How the model is asked to write. Each field that is named changes; null restores the provider's default */
        Generation: {
            /** @description Randomness of the choice of words. Anthropic takes at most 1 */
            temperature?: number | null;
            /** @description The share of the likeliest words to choose from */
            top_p?: number | null;
            /** @description The most tokens of each reply. The model's own maximum holds where it is smaller */
            max_output_tokens?: number | null;
            /** @description The reply ends before the first of these texts */
            stop?: string[] | null;
            /** @description The same seed gives the same reply, as far as the provider keeps to it */
            seed?: number | null;
            /** @description Whether the model calls a tool. A forced call holds for the first reply of a turn; after the results the model is free */
            tool_choice?: ("auto" | "none" | "required") | {
                name: string;
            } | null;
            /** @description Whether one reply may hold several calls */
            parallel_tool_calls?: boolean | null;
            /** @description The form of the reply's text */
            response_format?: {
                /** @enum {string} */
                type: "text";
            } | {
                /** @enum {string} */
                type: "json";
            } | {
                /** @enum {string} */
                type: "json_schema";
                name: string;
                /** @description The JSON Schema of the reply */
                schema: {
                    [key: string]: unknown;
                };
                /** @description The provider must enforce the schema. Default: false */
                strict?: boolean;
            } | null;
            /** @description How much the model thinks before it replies */
            reasoning?: {
                /** @enum {string} */
                effort: "none" | "minimal" | "low" | "medium" | "high";
            } | null;
        };
        FoundSession: {
            session: components["schemas"]["SessionSummary"];
            /** @description Comparable only with the scores of the same search */
            score: number;
            /** @description The title has some of the words */
            in_title: boolean;
            /** @description At most three messages, best first */
            matches: components["schemas"]["SessionMatch"][];
        };
        SessionSummary: {
            /** @description The id of a session */
            id: string;
            title: string | null;
            /** @description The client's own id of the session, unique in the tenant. Null: none */
            external_id: string | null;
            /** @description The client's id of the person who talks. Null: none */
            end_user: string | null;
            metadata: {
                [key: string]: string;
            };
            model: string;
            message_count: number;
            /** @description The beginning of the newest message's text. Null if there is no message yet */
            last_message_preview: string | null;
            /** @description Epoch milliseconds */
            created_at: number;
            /** @description Epoch milliseconds */
            updated_at: number;
            /** @description When the session was archived. Null: it is not. The next message or change brings an archived session back */
            archived_at: number | null;
            /** @description A summary or a trim replaces part of the conversation in the model's view */
            compacted: boolean;
        };
        SessionMatch: {
            /** @description The id of a message */
            id: string;
            position: number;
            /** @enum {string} */
            role: "system" | "user" | "assistant";
            /** @description Epoch milliseconds */
            created_at: number;
            /** @description One line: the whole text, or the part around the words that match */
            snippet: string;
        };
        SessionSearch: {
            /** @description Words to look for in titles and messages, at most 1000 characters */
            query: string;
            /** @description The client's id of the person who talks */
            end_user?: string;
            /**
             * @description `false`: without archived sessions; `true`: only these; `any`: both
             * @default any
             * @enum {string}
             */
            archived?: "true" | "false" | "any";
            /** @description Only sessions with these entries */
            metadata?: {
                [key: string]: string;
            };
            /** @description Only sessions that were created after this moment, in epoch milliseconds */
            created_after?: number;
            /** @description Only sessions that were created before this moment */
            created_before?: number;
            /** @description Only sessions that changed after this moment */
            updated_after?: number;
            /** @description Only sessions that did not change since this moment */
            updated_before?: number;
            /**
             * @description The most sessions
             * @default 20
             */
            limit?: number;
            /** @description next_cursor of the page before, with all else as it was */
            after?: string;
        };
        PutSession: {
            model?: string;
            policy?: ("oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim") | {
                /** @enum {string} */
                preset?: "oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim";
                trigger?: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at?: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio?: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio?: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound?: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor?: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens?: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio?: number;
                };
                keep?: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio?: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of?: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens?: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens?: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages?: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio?: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens?: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut?: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages?: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages?: boolean;
                };
                results?: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars?: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut?: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear?: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full?: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio?: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond?: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars?: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools?: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools?: string[];
                };
                summary?: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form?: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement?: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens?: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio?: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after?: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode?: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact?: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts?: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models?: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms?: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions?: string | null;
                };
                tools?: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds?: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall?: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models?: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure?: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window?: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator?: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio?: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model?: string | null;
            };
            system?: string | null;
            tools?: (components["schemas"]["ClientTool"] | components["schemas"]["HttpToolOffer"] | components["schemas"]["McpToolsOffer"])[] | null;
            title?: string | null;
            /** @description What each summary should pay attention to and how to word it, at most 4,000 characters. It is added to the summariser's rules, which stay in force, and takes precedence over summary.instructions of the policy */
            summary_instructions?: string | null;
            /** @description At most 16 entries; names of 64, values of 512 characters */
            metadata?: {
                [key: string]: string;
            };
            generation?: components["schemas"]["Generation"];
            /** @description The client's id of the person who talks */
            end_user?: string | null;
        };
        PatchSession: {
            model?: string;
            policy?: ("oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim") | {
                /** @enum {string} */
                preset?: "oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim";
                trigger?: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at?: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio?: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio?: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound?: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor?: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens?: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio?: number;
                };
                keep?: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio?: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of?: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens?: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens?: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages?: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio?: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens?: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut?: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages?: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages?: boolean;
                };
                results?: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars?: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut?: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear?: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full?: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio?: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond?: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars?: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools?: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools?: string[];
                };
                summary?: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form?: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement?: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens?: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio?: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after?: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode?: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact?: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts?: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models?: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms?: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions?: string | null;
                };
                tools?: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds?: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall?: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models?: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure?: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window?: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator?: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio?: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model?: string | null;
            } | null;
            system?: string | null;
            tools?: (components["schemas"]["ClientTool"] | components["schemas"]["HttpToolOffer"] | components["schemas"]["McpToolsOffer"])[] | null;
            title?: string | null;
            /** @description What each summary should pay attention to and how to word it, at most 4,000 characters. It is added to the summariser's rules, which stay in force, and takes precedence over summary.instructions of the policy */
            summary_instructions?: string | null;
            /** @description At most 16 entries; names of 64, values of 512 characters */
            metadata?: {
                [key: string]: string;
            };
            /** @description Each field that is named changes; null clears all of them */
            generation?: {
                /** @description Randomness of the choice of words. Anthropic takes at most 1 */
                temperature?: number | null;
                /** @description The share of the likeliest words to choose from */
                top_p?: number | null;
                /** @description The most tokens of each reply. The model's own maximum holds where it is smaller */
                max_output_tokens?: number | null;
                /** @description The reply ends before the first of these texts */
                stop?: string[] | null;
                /** @description The same seed gives the same reply, as far as the provider keeps to it */
                seed?: number | null;
                /** @description Whether the model calls a tool. A forced call holds for the first reply of a turn; after the results the model is free */
                tool_choice?: ("auto" | "none" | "required") | {
                    name: string;
                } | null;
                /** @description Whether one reply may hold several calls */
                parallel_tool_calls?: boolean | null;
                /** @description The form of the reply's text */
                response_format?: {
                    /** @enum {string} */
                    type: "text";
                } | {
                    /** @enum {string} */
                    type: "json";
                } | {
                    /** @enum {string} */
                    type: "json_schema";
                    name: string;
                    /** @description The JSON Schema of the reply */
                    schema: {
                        [key: string]: unknown;
                    };
                    /** @description The provider must enforce the schema. Default: false */
                    strict?: boolean;
                } | null;
                /** @description How much the model thinks before it replies */
                reasoning?: {
                    /** @enum {string} */
                    effort: "none" | "minimal" | "low" | "medium" | "high";
                } | null;
            } | null;
            /** @description The client's id of the person who talks */
            end_user?: string | null;
        };
        ErasureReceipt: {
            /** @description The id of a session */
            id: string;
            /** @description Epoch milliseconds */
            erased_at: number;
            stores: {
                /** @description session, read_model, files, exports, chat, directory */
                store: string;
                /** @enum {string} */
                status: "erased" | "pending";
                rows: number | null;
            }[];
            /** @description The erasure, whose receipt stays. Null if the tenant's object has no note of it */
            erasure_id: string | null;
        };
        /** @description The current state of a turn. It is open while it is queued, generates, or runs or awaits tools */
        Turn: {
            /** @description The id of a turn */
            id: string;
            /** @enum {string} */
            status: "completed" | "failed" | "stopped" | "interrupted" | "queued" | "generating" | "running_tools" | "awaiting_tools";
            /** @enum {string|null} */
            finish: "stop" | "length" | "tool_calls" | "content_filter" | "other" | null;
            failure: {
                /** @enum {string} */
                kind: "overflow" | "output_cap" | "payload" | "rate_limit" | "quota" | "media" | "invalid_param" | "auth" | "not_found" | "region" | "refused" | "unavailable" | "timeout" | "aborted" | "cannot_fit" | "round_limit" | "no_progress" | "budget" | "suspended" | "storage_full" | "unknown_model" | "crashed" | "internal";
                /** @description The provider's HTTP status. Null if the provider did not answer */
                status: number | null;
                fit?: {
                    /** @description Tokens that no compaction can remove */
                    floor: number;
                    /** @description The most tokens of a request to the model */
                    limit: number;
                    /** @description The largest parts of the request */
                    biggest: {
                        what: string;
                        tokens: number;
                        bytes?: number;
                    }[];
                    /** @description Present if bytes are the reason: the bytes that no compaction can remove, and the most bytes of a request. `limit` is then the same bound in tokens */
                    bytes?: {
                        floor: number;
                        limit: number;
                    };
                };
                /** @description Present if the request was not sent because its body was too large: its bytes (floor) and the most bytes (limit) */
                bytes?: {
                    floor: number;
                    limit: number;
                };
                /** @description Tokens that would fit, as the provider reported: of the request (overflow) or of the reply (output_cap) */
                limit?: number;
                /** @description The wait that the provider asked for, on the last attempt */
                retry_after_ms?: number;
                /** @description The provider's own code and type of the failure, and the part of the request that it names, where they are identifiers */
                reported?: {
                    code?: string;
                    type?: string;
                    param?: string;
                    /** @description The beginning of what the provider said, at most 300 characters, without secrets. Present only if the tenant's own credential or address was called, until the next redaction */
                    message?: string;
                };
                /** @description Why the turn failed, for people, by the class of the failure */
                detail: string;
                /** @description What can be done, for people. The message is kept, so it must not be sent again */
                remedy: string;
            } | null;
            attempt: number;
            /** @description When the turn was asked for, in epoch milliseconds */
            created_at: number;
            /** @description When the turn ended, in epoch milliseconds. Null while it is open */
            ended_at: number | null;
            /** @description The id of a message */
            message_id: string | null;
            /** @description What the turn produced, in order */
            items: components["schemas"]["Item"][];
            /** @description `items` leaves older items out, because there are too many or they are too large. The list of messages has all of them */
            items_truncated: boolean;
            /** @description The text of the turn's newest reply. Empty if it has none */
            output_text: string;
            open_calls: {
                /** @description The id of its execution, which results and approvals name as `execution_id` */
                id: string;
                /** @description The provider's own id of the call, which may repeat */
                call_id: string;
                name: string;
                /** @description JSON text, as the model wrote it */
                arguments: string;
                /**
                 * @description Which side runs the call. A client sends results of its own calls only
                 * @enum {string}
                 */
                runs: "client" | "server";
                /**
                 * @description `pending`: the call runs after a person approves it. Null if it is not waiting for approval
                 * @enum {string|null}
                 */
                approval: "pending" | null;
            }[];
            /** @description The model that was asked last: the session's model, or one of its policy's fallback_models. In a completed turn it gave the answer. Null if no model was asked yet */
            model: string | null;
            usage: {
                /** @description Cached tokens included */
                input: number;
                output: number;
                cached: number;
                /** @description Part of `output`. If it is larger than `output`, the provider counts it separately */
                reasoning: number;
                /** @description Part of `input`. Absent if the provider did not report it */
                cache_write?: number;
            } | null;
            /** @description US dollars of the turn's calls. Null if the cost of one of them is unknown */
            cost: number | null;
            context_window: number | null;
            /** @description The window that the policy assumes for an unknown one */
            assumed_window: number | null;
            /** @description The size of the next request */
            current_context_tokens: {
                tokens: number;
                /**
                 * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                 * @enum {string}
                 */
                source: "reported" | "estimated" | "mixed";
                /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                error_bound: number;
            };
            /** @description Messages to show to the user: about this turn, or about what happened since the turn before */
            notices: {
                /** @enum {string} */
                code: "history_trimmed";
                text: string;
            }[];
        };
        /** @description A message as people read it. Every message is listed, whatever the model's view holds. It can be posted to another session as it is */
        Item: {
            /** @description The id of a message */
            id: string;
            /** @description Its place in the conversation, from 1. The calls of a reply take the places after it */
            position: number;
            /** @enum {string} */
            role: "user" | "assistant" | "system" | "tool";
            /** @description Role tool: one text part, the output. A reply may consist of calls alone */
            content: ({
                /** @enum {string} */
                type: "text";
                text: string;
            } | {
                /** @enum {string} */
                type: "reasoning";
                text: string;
            } | {
                /** @enum {string} */
                type: "image" | "file";
                media_type: string;
                name?: string;
                /** Format: uri */
                url: string;
            } | {
                /** @enum {string} */
                type: "image" | "file";
                media_type: string;
                name?: string;
                /** @description A stored file. Its type and size are the file's own */
                file_id: string;
                readonly bytes: number;
                /** @description Estimated, for a model that reads the file */
                readonly tokens: number;
            })[];
            /** @description Role assistant: the calls of the reply. Absent if there are none */
            tool_calls?: {
                /** @description The call's own id. The session can go back to it. It redacts the call alone, unless it is also the id of the message */
                id: string;
                position: number;
                /** @description The id of a tool call */
                execution_id: string;
                /** @description The provider's own id of the call, which may repeat */
                call_id: string;
                name: string;
                /** @description JSON text, as the model wrote it */
                arguments: string;
                /**
                 * @description True: a redaction has removed the arguments. Absent otherwise
                 * @enum {boolean}
                 */
                redacted?: true;
            }[];
            /** @description Role tool: the provider's own id of the answered call, which may repeat */
            call_id?: string;
            /** @description Role tool: the name of the called tool */
            tool_name?: string;
            /** @description Role tool: the call failed */
            is_error?: boolean;
            /** @description Role tool: the execution whose result this is */
            execution_id?: string;
            /** @description Who speaks */
            name: string | null;
            /** @description The client's own id of the message, unique in the session */
            client_id: string | null;
            metadata: {
                [key: string]: string;
            };
            /** @description The id of a turn */
            turn_id: string | null;
            /** @description When it was said. For an imported message this is what the client reported, if it did */
            created_at: number;
            /** @description When it entered the log */
            recorded_at: number;
            /** @description The reply was cut off before its end: it was stopped, failed, was interrupted, reached its limit or was filtered */
            incomplete: boolean;
            /**
             * @description True: a redaction, or a rule about the age of tool results, has removed the content, and a placeholder stands for it. Absent otherwise
             * @enum {boolean}
             */
            redacted?: true;
            tokens: {
                tokens: number;
                /**
                 * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                 * @enum {string}
                 */
                source: "reported" | "estimated" | "mixed";
                /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                error_bound: number;
            };
        };
        /** @description The data of one event of the live stream, as JSON */
        StreamFrame: components["schemas"]["MessageAcceptedFrame"] | components["schemas"]["MessageCancelledFrame"] | components["schemas"]["MessageRedactedFrame"] | components["schemas"]["TurnStartedFrame"] | components["schemas"]["TurnResumedFrame"] | components["schemas"]["TurnWaitingFrame"] | components["schemas"]["TextDeltaFrame"] | components["schemas"]["ReasoningDeltaFrame"] | components["schemas"]["ItemCompletedFrame"] | components["schemas"]["ToolStartedFrame"] | components["schemas"]["ApprovalRequestedFrame"] | components["schemas"]["ApprovalResolvedFrame"] | components["schemas"]["TurnAwaitingToolsFrame"] | components["schemas"]["TurnCompletedFrame"] | components["schemas"]["TurnFailedFrame"] | components["schemas"]["TurnStoppedFrame"] | components["schemas"]["TurnInterruptedFrame"] | components["schemas"]["UsageUpdatedFrame"] | components["schemas"]["CompactionStartedFrame"] | components["schemas"]["CompactionDraftedFrame"] | components["schemas"]["CompactionCompletedFrame"] | components["schemas"]["NoticeFrame"] | components["schemas"]["BranchChangedFrame"] | components["schemas"]["SessionErasedFrame"] | components["schemas"]["StreamGapFrame"] | components["schemas"]["StreamRewindFrame"] | components["schemas"]["StreamHaltedFrame"];
        /** @description A message is durable. `position` is null while it waits in the queue */
        MessageAcceptedFrame: {
            /** @enum {string} */
            type: "message.accepted";
            /** @description The id of a message */
            message_id: string;
            /** @description The id of a turn */
            turn_id: string | null;
            position: number | null;
            queued: boolean;
            /** @enum {string} */
            role?: "user" | "assistant" | "system" | "tool";
            /** @description With `role` on the session's own stream, as the record has it now: after a redaction the placeholder. Absent on the stream of one turn, and of a message that was taken back */
            content?: ({
                /** @enum {string} */
                type: "text";
                text: string;
            } | {
                /** @enum {string} */
                type: "reasoning";
                text: string;
            } | {
                /** @enum {string} */
                type: "image" | "file";
                media_type: string;
                name?: string;
                /** Format: uri */
                url: string;
            } | {
                /** @enum {string} */
                type: "image" | "file";
                media_type: string;
                name?: string;
                /** @description A stored file. Its type and size are the file's own */
                file_id: string;
                readonly bytes: number;
                /** @description Estimated, for a model that reads the file */
                readonly tokens: number;
            })[];
            /**
             * @description The content is left out because it is too large for a frame. The list of messages has it
             * @enum {boolean}
             */
            content_omitted?: true;
        };
        /** @description A queued message was taken back */
        MessageCancelledFrame: {
            /** @enum {string} */
            type: "message.cancelled";
            /** @description The id of a message */
            message_id: string;
            /** @description The id of a turn */
            turn_id: string | null;
        };
        /** @description The content of a message was removed */
        MessageRedactedFrame: {
            /** @enum {string} */
            type: "message.redacted";
            /** @description The id of a message */
            message_id: string;
            position: number;
        };
        /** @description A turn begins */
        TurnStartedFrame: {
            /** @enum {string} */
            type: "turn.started";
            /** @description The id of a turn */
            turn_id: string;
            attempt: number;
            /** @description The id of a message */
            message_id: string | null;
            position: number | null;
        };
        /** @description A turn goes on after a break: the text that follows begins anew */
        TurnResumedFrame: {
            /** @enum {string} */
            type: "turn.resumed";
            /** @description The id of a turn */
            turn_id: string;
        };
        /** @description The model could not answer and is asked again in `wait_ms`. No output has been sent so far */
        TurnWaitingFrame: {
            /** @enum {string} */
            type: "turn.waiting";
            /** @description The id of a turn */
            turn_id: string;
            model: string;
            /** @enum {string} */
            reason: "overflow" | "output_cap" | "payload" | "rate_limit" | "quota" | "media" | "invalid_param" | "auth" | "not_found" | "region" | "refused" | "unavailable" | "timeout" | "aborted" | "cannot_fit" | "round_limit" | "no_progress" | "budget" | "suspended" | "storage_full" | "unknown_model" | "crashed" | "internal";
            wait_ms: number;
        };
        /** @description More text of the reply */
        TextDeltaFrame: {
            /** @enum {string} */
            type: "text.delta";
            /** @description The id of a turn */
            turn_id: string;
            /** @description The id of the reply that this becomes part of */
            message_id: string;
            text: string;
        };
        /** @description More of the model's reasoning */
        ReasoningDeltaFrame: {
            /** @enum {string} */
            type: "reasoning.delta";
            /** @description The id of a turn */
            turn_id: string;
            /** @description The id of the reply that this becomes part of */
            message_id: string;
            text: string;
        };
        /** @description A message of the turn is recorded, as the list of messages shows it */
        ItemCompletedFrame: {
            /** @enum {string} */
            type: "item.completed";
            /** @description The id of a turn */
            turn_id: string;
            item: components["schemas"]["Item"];
            /**
             * @description The content is left out because it is too large for a frame. The list of messages has it
             * @enum {boolean}
             */
            content_omitted?: true;
        };
        /** @description A tool call runs on the server */
        ToolStartedFrame: {
            /** @enum {string} */
            type: "tool.started";
            /** @description The id of a turn */
            turn_id: string;
            /** @description The id of a tool call */
            execution_id: string;
        };
        /** @description A tool call waits for a person's approval */
        ApprovalRequestedFrame: {
            /** @enum {string} */
            type: "approval.requested";
            /** @description The id of a turn */
            turn_id: string;
            tool_call: {
                /** @description The id of its execution, which results and approvals name as `execution_id` */
                id: string;
                /** @description The provider's own id of the call, which may repeat */
                call_id: string;
                name: string;
                /** @description JSON text, as the model wrote it */
                arguments: string;
                /**
                 * @description Which side runs the call. A client sends results of its own calls only
                 * @enum {string}
                 */
                runs: "client" | "server";
                /**
                 * @description `pending`: the call runs after a person approves it. Null if it is not waiting for approval
                 * @enum {string|null}
                 */
                approval: "pending" | null;
            };
        };
        /** @description A tool call was approved or refused */
        ApprovalResolvedFrame: {
            /** @enum {string} */
            type: "approval.resolved";
            /** @description The id of a turn */
            turn_id: string;
            /** @description The id of a tool call */
            execution_id: string;
            approved: boolean;
        };
        /** @description The turn waits: the client owes the results of these calls, or a person their approval */
        TurnAwaitingToolsFrame: {
            /** @enum {string} */
            type: "turn.awaiting_tools";
            /** @description The id of a turn */
            turn_id: string;
            tool_calls: {
                /** @description The id of its execution, which results and approvals name as `execution_id` */
                id: string;
                /** @description The provider's own id of the call, which may repeat */
                call_id: string;
                name: string;
                /** @description JSON text, as the model wrote it */
                arguments: string;
                /**
                 * @description Which side runs the call. A client sends results of its own calls only
                 * @enum {string}
                 */
                runs: "client" | "server";
                /**
                 * @description `pending`: the call runs after a person approves it. Null if it is not waiting for approval
                 * @enum {string|null}
                 */
                approval: "pending" | null;
            }[];
            /**
             * @description The content is left out because it is too large for a frame. The list of messages has it
             * @enum {boolean}
             */
            content_omitted?: true;
        };
        /** @description The turn ended with a reply */
        TurnCompletedFrame: {
            /** @enum {string} */
            type: "turn.completed";
            /** @description The id of a turn */
            turn_id: string;
            /** @enum {string} */
            finish: "stop" | "length" | "tool_calls" | "content_filter" | "other";
            context_window: number | null;
            /** @description The window that the policy assumes for an unknown one */
            assumed_window: number | null;
            /** @description The size of the next request */
            current_context_tokens: {
                tokens: number;
                /**
                 * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                 * @enum {string}
                 */
                source: "reported" | "estimated" | "mixed";
                /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                error_bound: number;
            };
            usage: {
                /** @description Cached tokens included */
                input: number;
                output: number;
                cached: number;
                /** @description Part of `output`. If it is larger than `output`, the provider counts it separately */
                reasoning: number;
                /** @description Part of `input`. Absent if the provider did not report it */
                cache_write?: number;
            } | null;
            /** @description US dollars of the turn's calls. Null if the cost of one of them is unknown */
            cost: number | null;
        };
        /** @description The turn ended without a complete reply */
        TurnFailedFrame: {
            /** @enum {string} */
            type: "turn.failed";
            /** @description The id of a turn */
            turn_id: string;
            failure: {
                /** @enum {string} */
                kind: "overflow" | "output_cap" | "payload" | "rate_limit" | "quota" | "media" | "invalid_param" | "auth" | "not_found" | "region" | "refused" | "unavailable" | "timeout" | "aborted" | "cannot_fit" | "round_limit" | "no_progress" | "budget" | "suspended" | "storage_full" | "unknown_model" | "crashed" | "internal";
                /** @description The provider's HTTP status. Null if the provider did not answer */
                status: number | null;
                fit?: {
                    /** @description Tokens that no compaction can remove */
                    floor: number;
                    /** @description The most tokens of a request to the model */
                    limit: number;
                    /** @description The largest parts of the request */
                    biggest: {
                        what: string;
                        tokens: number;
                        bytes?: number;
                    }[];
                    /** @description Present if bytes are the reason: the bytes that no compaction can remove, and the most bytes of a request. `limit` is then the same bound in tokens */
                    bytes?: {
                        floor: number;
                        limit: number;
                    };
                };
                /** @description Present if the request was not sent because its body was too large: its bytes (floor) and the most bytes (limit) */
                bytes?: {
                    floor: number;
                    limit: number;
                };
                /** @description Tokens that would fit, as the provider reported: of the request (overflow) or of the reply (output_cap) */
                limit?: number;
                /** @description The wait that the provider asked for, on the last attempt */
                retry_after_ms?: number;
                /** @description The provider's own code and type of the failure, and the part of the request that it names, where they are identifiers */
                reported?: {
                    code?: string;
                    type?: string;
                    param?: string;
                    /** @description The beginning of what the provider said, at most 300 characters, without secrets. Present only if the tenant's own credential or address was called, until the next redaction */
                    message?: string;
                };
                /** @description Why the turn failed, for people, by the class of the failure */
                detail: string;
                /** @description What can be done, for people. The message is kept, so it must not be sent again */
                remedy: string;
            };
            context_window: number | null;
            /** @description The window that the policy assumes for an unknown one */
            assumed_window: number | null;
            /** @description The size of the next request */
            current_context_tokens: {
                tokens: number;
                /**
                 * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                 * @enum {string}
                 */
                source: "reported" | "estimated" | "mixed";
                /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                error_bound: number;
            };
            usage: {
                /** @description Cached tokens included */
                input: number;
                output: number;
                cached: number;
                /** @description Part of `output`. If it is larger than `output`, the provider counts it separately */
                reasoning: number;
                /** @description Part of `input`. Absent if the provider did not report it */
                cache_write?: number;
            } | null;
            /** @description US dollars of the turn's calls. Null if the cost of one of them is unknown */
            cost: number | null;
        };
        /** @description The turn was stopped. Its text is kept */
        TurnStoppedFrame: {
            /** @enum {string} */
            type: "turn.stopped";
            /** @description The id of a turn */
            turn_id: string;
            /** @enum {string} */
            reason: "requested" | "interrupted_by_message" | "superseded" | "tools_expired";
            context_window: number | null;
            /** @description The window that the policy assumes for an unknown one */
            assumed_window: number | null;
            /** @description The size of the next request */
            current_context_tokens: {
                tokens: number;
                /**
                 * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                 * @enum {string}
                 */
                source: "reported" | "estimated" | "mixed";
                /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                error_bound: number;
            };
            usage: {
                /** @description Cached tokens included */
                input: number;
                output: number;
                cached: number;
                /** @description Part of `output`. If it is larger than `output`, the provider counts it separately */
                reasoning: number;
                /** @description Part of `input`. Absent if the provider did not report it */
                cache_write?: number;
            } | null;
            /** @description US dollars of the turn's calls. Null if the cost of one of them is unknown */
            cost: number | null;
        };
        /** @description The turn ended with its process. Its text is kept */
        TurnInterruptedFrame: {
            /** @enum {string} */
            type: "turn.interrupted";
            /** @description The id of a turn */
            turn_id: string;
            context_window: number | null;
            /** @description The window that the policy assumes for an unknown one */
            assumed_window: number | null;
            /** @description The size of the next request */
            current_context_tokens: {
                tokens: number;
                /**
                 * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                 * @enum {string}
                 */
                source: "reported" | "estimated" | "mixed";
                /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                error_bound: number;
            };
            usage: {
                /** @description Cached tokens included */
                input: number;
                output: number;
                cached: number;
                /** @description Part of `output`. If it is larger than `output`, the provider counts it separately */
                reasoning: number;
                /** @description Part of `input`. Absent if the provider did not report it */
                cache_write?: number;
            } | null;
            /** @description US dollars of the turn's calls. Null if the cost of one of them is unknown */
            cost: number | null;
        };
        /** @description One model call is in the ledger, whatever its purpose. `turn_id` is null when it belongs to no turn */
        UsageUpdatedFrame: {
            /** @enum {string} */
            type: "usage.updated";
            /** @description The id of a turn */
            turn_id: string | null;
            /** @enum {string} */
            source: "turn" | "context_compaction" | "title" | "comparison";
            model: string;
            usage: {
                /** @description Cached tokens included */
                input: number;
                output: number;
                cached: number;
                /** @description Part of `output`. If it is larger than `output`, the provider counts it separately */
                reasoning: number;
                /** @description Part of `input`. Absent if the provider did not report it */
                cache_write?: number;
            } | null;
            /** @description US dollars. Null: unknown */
            cost: number | null;
            context_window: number | null;
            /** @description The window that the policy assumes for an unknown one */
            assumed_window: number | null;
            /** @description The size of the next request */
            current_context_tokens: {
                tokens: number;
                /**
                 * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                 * @enum {string}
                 */
                source: "reported" | "estimated" | "mixed";
                /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                error_bound: number;
            };
        };
        /** @description A compaction runs. `status` is a text to show meanwhile */
        CompactionStartedFrame: {
            /** @enum {string} */
            type: "compaction.started";
            /** @description The id of a compaction */
            compaction_id: string;
            status: string;
        };
        /** @description The draft's summary can be read, edited, and committed or discarded */
        CompactionDraftedFrame: {
            /** @enum {string} */
            type: "compaction.drafted";
            /** @description The id of a compaction */
            compaction_id: string;
        };
        /** @description A compaction ended. The numbers are messages in the next request before and after: a summary counts as one, a reply with its calls as one, each result as one */
        CompactionCompletedFrame: {
            /** @enum {string} */
            type: "compaction.completed";
            /** @description The id of a compaction */
            compaction_id: string;
            did_compact: boolean;
            /** @enum {string|null} */
            failure: "overflow" | "output_cap" | "payload" | "rate_limit" | "quota" | "media" | "invalid_param" | "auth" | "not_found" | "region" | "refused" | "unavailable" | "timeout" | "aborted" | "empty" | "cut_off" | "too_long" | "not_smaller" | "sections_missing" | "lease_expired" | "unknown_model" | "nothing_to_do" | "budget" | "superseded" | "discarded" | "internal" | null;
            messages_before: number;
            messages_after: number;
        };
        /** @description A text to show to the user */
        NoticeFrame: {
            /** @enum {string} */
            type: "notice";
            /** @enum {string} */
            code: "history_trimmed";
            text: string;
        };
        /** @description Another branch is current now, and `last_position` is its last. Read the conversation again */
        BranchChangedFrame: {
            /** @enum {string} */
            type: "branch.changed";
            branch: number;
            last_position: number;
        };
        /** @description The session was erased. The stream ends */
        SessionErasedFrame: {
            /** @enum {string} */
            type: "session.erased";
        };
        /** @description Frames up to the offset `to` are not kept. The list of messages has their content */
        StreamGapFrame: {
            /** @enum {string} */
            type: "stream.gap";
            to: number;
        };
        /** @description What the client received after the offset `to` was lost with the process. The stream continues after it */
        StreamRewindFrame: {
            /** @enum {string} */
            type: "stream.rewind";
            to: number;
        };
        /** @description What comes next cannot be recorded. The turn has not ended, but its own stream ends here */
        StreamHaltedFrame: {
            /** @enum {string} */
            type: "stream.halted";
            /** @enum {string} */
            reason: "storage_full";
        };
        /** @description The durable acknowledgement of a message */
        Accepted: {
            /** @description The id of a message */
            message_id: string;
            /** @description The id of a turn */
            turn_id: string | null;
            /** @description Null while the message is queued: it gets its position when its turn starts */
            position: number | null;
            queued: boolean;
            /** @description Read the live stream after this offset to see everything from message.accepted on */
            cursor: number;
        };
        SubmitMessage: {
            /** @description Needed, unless a reply has tool_calls; of role tool the output, which may be empty */
            content?: string | ({
                /** @enum {string} */
                type: "text";
                text: string;
            } | {
                /** @enum {string} */
                type: "reasoning";
                text: string;
            } | {
                /** @enum {string} */
                type: "image" | "file";
                /** @description Needed with an http or https URL. Ignored for a stored file */
                media_type?: string;
                name?: string;
                /**
                 * Format: uri
                 * @description A data URL becomes a stored file
                 */
                url?: string;
                /** @description A stored file. Its type and size are the file's own */
                file_id?: string;
                readonly bytes?: number;
                readonly tokens?: number;
            })[];
            /**
             * @default user
             * @enum {string}
             */
            role?: "user" | "assistant" | "system" | "tool";
            /** @description Of role assistant: the calls of a recorded reply */
            tool_calls?: {
                /** @description The provider's own id; may repeat */
                call_id: string;
                name: string;
                /** @description JSON text, as the model wrote it */
                arguments: string;
                /** @description Set by the server, and ignored in requests */
                readonly id?: unknown;
                /** @description Set by the server, and ignored in requests */
                readonly position?: unknown;
                /** @description Set by the server, and ignored in requests */
                readonly execution_id?: unknown;
                /** @description Set by the server, and ignored in requests */
                readonly redacted?: unknown;
            }[];
            /** @description Of role tool: the imported call that this is the result of; of several with the same id the first open one */
            call_id?: string;
            /** @description Of role tool: the call failed */
            is_error?: boolean;
            /** @description Who speaks: the model reads it in front of the text. Not of role tool */
            name?: string | null;
            /** @description The client's own id of the message, unique in the session. GET the messages with it to find the message */
            client_id?: string | null;
            /** @description At most 16 entries; names of 64, values of 512 characters */
            metadata?: {
                [key: string]: string;
            };
            /** @description When an imported message was said, in epoch milliseconds. Never used for order; ignored with run: true */
            created_at?: number;
            /** @description Of role assistant: the recorded reply was cut off before its end */
            incomplete?: boolean;
            /** @description Set by the server, and ignored in requests */
            readonly id?: unknown;
            /** @description Set by the server, and ignored in requests */
            readonly position?: unknown;
            /** @description Set by the server, and ignored in requests */
            readonly turn_id?: unknown;
            /** @description Set by the server, and ignored in requests */
            readonly recorded_at?: unknown;
            /** @description Set by the server, and ignored in requests */
            readonly tokens?: unknown;
            /** @description Set by the server, and ignored in requests */
            readonly execution_id?: unknown;
            /** @description Set by the server, and ignored in requests */
            readonly tool_name?: unknown;
            /** @description Set by the server, and ignored in requests */
            readonly redacted?: unknown;
            /**
             * @default queue
             * @enum {string}
             */
            on_busy?: "queue" | "reject" | "interrupt";
            /** @description false: append only, no turn; for recorded conversations. By default true for role user and false for the others */
            run?: boolean;
            /** @description For this turn only, in place of the session's */
            tools?: (components["schemas"]["ClientTool"] | components["schemas"]["HttpToolOffer"] | components["schemas"]["McpToolsOffer"])[] | null;
            /** @description For this turn only, field by field over the session's */
            generation?: {
                /** @description Randomness of the choice of words. Anthropic takes at most 1 */
                temperature?: number | null;
                /** @description The share of the likeliest words to choose from */
                top_p?: number | null;
                /** @description The most tokens of each reply. The model's own maximum holds where it is smaller */
                max_output_tokens?: number | null;
                /** @description The reply ends before the first of these texts */
                stop?: string[] | null;
                /** @description The same seed gives the same reply, as far as the provider keeps to it */
                seed?: number | null;
                /** @description Whether the model calls a tool. A forced call holds for the first reply of a turn; after the results the model is free */
                tool_choice?: ("auto" | "none" | "required") | {
                    name: string;
                } | null;
                /** @description Whether one reply may hold several calls */
                parallel_tool_calls?: boolean | null;
                /** @description The form of the reply's text */
                response_format?: {
                    /** @enum {string} */
                    type: "text";
                } | {
                    /** @enum {string} */
                    type: "json";
                } | {
                    /** @enum {string} */
                    type: "json_schema";
                    name: string;
                    /** @description The JSON Schema of the reply */
                    schema: {
                        [key: string]: unknown;
                    };
                    /** @description The provider must enforce the schema. Default: false */
                    strict?: boolean;
                } | null;
                /** @description How much the model thinks before it replies */
                reasoning?: {
                    /** @enum {string} */
                    effort: "none" | "minimal" | "low" | "medium" | "high";
                } | null;
            } | null;
            /** @description For this turn only, in place of the session's */
            model?: string | null;
            /** @description The system prompt, for this turn only, in place of the session's. An empty text: none; null: the session's */
            system?: string | null;
            /** @description Your own text about the turn, of at most 64 KB. No model reads it; `GET …/turns/:turn/settings` returns it */
            note?: string | null;
        };
        /** @description The durable acknowledgement of messages that were appended together */
        ImportedMessages: {
            /** @description One for each message of the request, in its order */
            data: {
                /** @description The id of a message */
                id: string;
                position: number;
                client_id: string | null;
            }[];
            /** @description Read the live stream after this offset to see everything from message.accepted on */
            cursor: number;
        };
        ImportMessages: {
            /** @description In order. Messages of a list can be sent as they are */
            items: components["schemas"]["WrittenMessage"][];
        };
        WrittenMessage: {
            /** @description Needed, unless a reply has tool_calls; of role tool the output, which may be empty */
            content?: string | ({
                /** @enum {string} */
                type: "text";
                text: string;
            } | {
                /** @enum {string} */
                type: "reasoning";
                text: string;
            } | {
                /** @enum {string} */
                type: "image" | "file";
                /** @description Needed with an http or https URL. Ignored for a stored file */
                media_type?: string;
                name?: string;
                /**
                 * Format: uri
                 * @description A data URL becomes a stored file
                 */
                url?: string;
                /** @description A stored file. Its type and size are the file's own */
                file_id?: string;
                readonly bytes?: number;
                readonly tokens?: number;
            })[];
            /**
             * @default user
             * @enum {string}
             */
            role?: "user" | "assistant" | "system" | "tool";
            /** @description Of role assistant: the calls of a recorded reply */
            tool_calls?: {
                /** @description The provider's own id; may repeat */
                call_id: string;
                name: string;
                /** @description JSON text, as the model wrote it */
                arguments: string;
                /** @description Set by the server, and ignored in requests */
                readonly id?: unknown;
                /** @description Set by the server, and ignored in requests */
                readonly position?: unknown;
                /** @description Set by the server, and ignored in requests */
                readonly execution_id?: unknown;
                /** @description Set by the server, and ignored in requests */
                readonly redacted?: unknown;
            }[];
            /** @description Of role tool: the imported call that this is the result of; of several with the same id the first open one */
            call_id?: string;
            /** @description Of role tool: the call failed */
            is_error?: boolean;
            /** @description Who speaks: the model reads it in front of the text. Not of role tool */
            name?: string | null;
            /** @description The client's own id of the message, unique in the session. GET the messages with it to find the message */
            client_id?: string | null;
            /** @description At most 16 entries; names of 64, values of 512 characters */
            metadata?: {
                [key: string]: string;
            };
            /** @description When an imported message was said, in epoch milliseconds. Never used for order; ignored with run: true */
            created_at?: number;
            /** @description Of role assistant: the recorded reply was cut off before its end */
            incomplete?: boolean;
            /** @description Set by the server, and ignored in requests */
            readonly id?: unknown;
            /** @description Set by the server, and ignored in requests */
            readonly position?: unknown;
            /** @description Set by the server, and ignored in requests */
            readonly turn_id?: unknown;
            /** @description Set by the server, and ignored in requests */
            readonly recorded_at?: unknown;
            /** @description Set by the server, and ignored in requests */
            readonly tokens?: unknown;
            /** @description Set by the server, and ignored in requests */
            readonly execution_id?: unknown;
            /** @description Set by the server, and ignored in requests */
            readonly tool_name?: unknown;
            /** @description Set by the server, and ignored in requests */
            readonly redacted?: unknown;
        };
        ToolResults: {
            results: {
                /** @description The id of a tool call */
                execution_id?: string;
                /** @description Of calls with the same id the first open one is meant */
                call_id?: string;
                /** @description Text, or any other JSON value, which is recorded as JSON text; images and other binary data belong to the artifacts */
                output: unknown;
                /**
                 * @description The tool failed; the output says how
                 * @default false
                 */
                is_error?: boolean;
                /** @description Of a process */
                exit_code?: number;
                /** @description From its start to its end */
                duration_ms?: number;
                /** @description What came beside the output, as standard error or an image; kept with the execution, and not shown to the model */
                artifacts?: {
                    type: string;
                    /** @description Any JSON value */
                    content: unknown;
                }[];
            }[];
        };
        Approvals: {
            /** @description Each call once */
            approvals: {
                /** @description The id of a tool call */
                execution_id: string;
                /** @description false: it is not run */
                approved: boolean;
                /** @description Of a refusal: the model is told; of an approval it is not kept */
                reason?: string;
            }[];
        };
        Respond: {
            /** @description The turn that the request continues, of any branch. A turn that others follow starts a branch. Without it: the newest place of the current branch */
            after?: string | null;
            /** @description Results of the open turn's calls. They are recorded before the messages */
            results?: {
                /** @description The id of a tool call */
                execution_id?: string;
                /** @description Of calls with the same id the first open one is meant */
                call_id?: string;
                /** @description Text, or any other JSON value, which is recorded as JSON text; images and other binary data belong to the artifacts */
                output: unknown;
                /**
                 * @description The tool failed; the output says how
                 * @default false
                 */
                is_error?: boolean;
                /** @description Of a process */
                exit_code?: number;
                /** @description From its start to its end */
                duration_ms?: number;
                /** @description What came beside the output, as standard error or an image; kept with the execution, and not shown to the model */
                artifacts?: {
                    type: string;
                    /** @description Any JSON value */
                    content: unknown;
                }[];
            }[];
            /** @description In order. With run a last one of a user starts the turn, and those before it are appended. Where they end with another message, all are appended, and the turn answers the conversation as it is then */
            messages?: components["schemas"]["WrittenMessage"][];
            /** @description By default true. false: no turn starts or goes on, and a turn whose last call is answered ends */
            run?: boolean;
            /**
             * @description Of a single user message without after and results: what it does while a turn runs (queue). All other requests are refused then
             * @enum {string}
             */
            on_busy?: "queue" | "reject" | "interrupt";
            /** @description For the turn only, in place of the session's. [] offers none; null: the session's */
            tools?: (components["schemas"]["ClientTool"] | components["schemas"]["HttpToolOffer"] | components["schemas"]["McpToolsOffer"])[] | null;
            /** @description For this turn only, field by field over the session's */
            generation?: {
                /** @description Randomness of the choice of words. Anthropic takes at most 1 */
                temperature?: number | null;
                /** @description The share of the likeliest words to choose from */
                top_p?: number | null;
                /** @description The most tokens of each reply. The model's own maximum holds where it is smaller */
                max_output_tokens?: number | null;
                /** @description The reply ends before the first of these texts */
                stop?: string[] | null;
                /** @description The same seed gives the same reply, as far as the provider keeps to it */
                seed?: number | null;
                /** @description Whether the model calls a tool. A forced call holds for the first reply of a turn; after the results the model is free */
                tool_choice?: ("auto" | "none" | "required") | {
                    name: string;
                } | null;
                /** @description Whether one reply may hold several calls */
                parallel_tool_calls?: boolean | null;
                /** @description The form of the reply's text */
                response_format?: {
                    /** @enum {string} */
                    type: "text";
                } | {
                    /** @enum {string} */
                    type: "json";
                } | {
                    /** @enum {string} */
                    type: "json_schema";
                    name: string;
                    /** @description The JSON Schema of the reply */
                    schema: {
                        [key: string]: unknown;
                    };
                    /** @description The provider must enforce the schema. Default: false */
                    strict?: boolean;
                } | null;
                /** @description How much the model thinks before it replies */
                reasoning?: {
                    /** @enum {string} */
                    effort: "none" | "minimal" | "low" | "medium" | "high";
                } | null;
            } | null;
            /** @description For this turn only, in place of the session's */
            model?: string | null;
            /** @description The system prompt, for this turn only, in place of the session's. An empty text: none; null: the session's */
            system?: string | null;
            /** @description Your own text about the turn, of at most 64 KB. No model reads it; `GET …/turns/:turn/settings` returns it */
            note?: string | null;
        };
        /** @description What a turn was asked with: its own choices over the session's settings when it started. A turn that has not started is shown over the session's present settings */
        TurnSettings: {
            /** @description The model that the turn asked for. One of the policy's fallback_models may have answered */
            model: string;
            system: string | null;
            tools: components["schemas"]["ToolDefinition"][];
            generation: {
                /** @description Randomness of the choice of words. Anthropic takes at most 1 */
                temperature?: number;
                /** @description The share of the likeliest words to choose from */
                top_p?: number;
                /** @description The most tokens of each reply. The model's own maximum holds where it is smaller */
                max_output_tokens?: number;
                /** @description The reply ends before the first of these texts */
                stop?: string[];
                /** @description The same seed gives the same reply, as far as the provider keeps to it */
                seed?: number;
                /** @description Whether the model calls a tool. A forced call holds for the first reply of a turn; after the results the model is free */
                tool_choice?: ("auto" | "none" | "required") | {
                    name: string;
                };
                /** @description Whether one reply may hold several calls */
                parallel_tool_calls?: boolean;
                /** @description The form of the reply's text */
                response_format?: {
                    /** @enum {string} */
                    type: "text";
                } | {
                    /** @enum {string} */
                    type: "json";
                } | {
                    /** @enum {string} */
                    type: "json_schema";
                    name: string;
                    /** @description The JSON Schema of the reply */
                    schema: {
                        [key: string]: unknown;
                    };
                    /** @description The provider must enforce the schema. Default: false */
                    strict?: boolean;
                };
                /** @description How much the model thinks before it replies */
                reasoning?: {
                    /** @enum {string} */
                    effort: "none" | "minimal" | "low" | "medium" | "high";
                };
            };
            /** @description The client's own text about the turn, which no model reads */
            note: string | null;
            /** @description A redaction has deleted one of these texts since */
            redacted: boolean;
        };
        Stop: {
            /** @description Only this turn, running or queued. Without it: the turn that is open */
            turn_id?: string;
        };
        RepeatTurn: {
            /** @description Field by field over what the repeated turn was asked with; null: only the session's settings hold */
            generation?: {
                /** @description Randomness of the choice of words. Anthropic takes at most 1 */
                temperature?: number | null;
                /** @description The share of the likeliest words to choose from */
                top_p?: number | null;
                /** @description The most tokens of each reply. The model's own maximum holds where it is smaller */
                max_output_tokens?: number | null;
                /** @description The reply ends before the first of these texts */
                stop?: string[] | null;
                /** @description The same seed gives the same reply, as far as the provider keeps to it */
                seed?: number | null;
                /** @description Whether the model calls a tool. A forced call holds for the first reply of a turn; after the results the model is free */
                tool_choice?: ("auto" | "none" | "required") | {
                    name: string;
                } | null;
                /** @description Whether one reply may hold several calls */
                parallel_tool_calls?: boolean | null;
                /** @description The form of the reply's text */
                response_format?: {
                    /** @enum {string} */
                    type: "text";
                } | {
                    /** @enum {string} */
                    type: "json";
                } | {
                    /** @enum {string} */
                    type: "json_schema";
                    name: string;
                    /** @description The JSON Schema of the reply */
                    schema: {
                        [key: string]: unknown;
                    };
                    /** @description The provider must enforce the schema. Default: false */
                    strict?: boolean;
                } | null;
                /** @description How much the model thinks before it replies */
                reasoning?: {
                    /** @enum {string} */
                    effort: "none" | "minimal" | "low" | "medium" | "high";
                } | null;
            } | null;
            /** @description In place of the repeated turn's; null: the session's */
            model?: string | null;
            /** @description In place of the repeated turn's. An empty text: none; null: the session's */
            system?: string | null;
            /** @description In place of the repeated turn's; null: none */
            note?: string | null;
        };
        Branch: {
            number: number;
            /** @description The branch that it started from. Null for the first branch */
            parent: number | null;
            /** @description The last position that it shares with its parent */
            shared_to: number;
            /** @description Epoch milliseconds */
            created_at: number;
            /** @description Null for the current branch */
            left_at: number | null;
            current: boolean;
            /** @description Messages of users and models on the branch, including shared ones */
            messages: number;
            /** @description 0 if the branch is empty */
            last_position: number;
        };
        Rewind: {
            /** @description The last position that stays; 0: nothing does */
            to: number;
        };
        /** @description The items that only one of two branches has */
        BranchComparison: {
            /** @description The last position that both branches have. 0 if there is none */
            shared_to: number;
            shared_messages: number;
            a: {
                number: number;
                /** @description Messages, calls and results that the other branch does not have */
                items: components["schemas"]["Item"][];
                /** @description There are more items. The list of messages returns them page by page */
                has_more: boolean;
            };
            b: {
                number: number;
                /** @description Messages, calls and results that the other branch does not have */
                items: components["schemas"]["Item"][];
                /** @description There are more items. The list of messages returns them page by page */
                has_more: boolean;
            };
        };
        EditMessage: {
            content: string | ({
                /** @enum {string} */
                type: "text";
                text: string;
            } | {
                /** @enum {string} */
                type: "reasoning";
                text: string;
            } | {
                /** @enum {string} */
                type: "image" | "file";
                /** @description Needed with an http or https URL. Ignored for a stored file */
                media_type?: string;
                name?: string;
                /**
                 * Format: uri
                 * @description A data URL becomes a stored file
                 */
                url?: string;
                /** @description A stored file. Its type and size are the file's own */
                file_id?: string;
                readonly bytes?: number;
                readonly tokens?: number;
            })[];
            /** @description For this turn only, in place of the session's */
            tools?: (components["schemas"]["ClientTool"] | components["schemas"]["HttpToolOffer"] | components["schemas"]["McpToolsOffer"])[] | null;
            /** @description For this turn only, field by field over the session's */
            generation?: {
                /** @description Randomness of the choice of words. Anthropic takes at most 1 */
                temperature?: number | null;
                /** @description The share of the likeliest words to choose from */
                top_p?: number | null;
                /** @description The most tokens of each reply. The model's own maximum holds where it is smaller */
                max_output_tokens?: number | null;
                /** @description The reply ends before the first of these texts */
                stop?: string[] | null;
                /** @description The same seed gives the same reply, as far as the provider keeps to it */
                seed?: number | null;
                /** @description Whether the model calls a tool. A forced call holds for the first reply of a turn; after the results the model is free */
                tool_choice?: ("auto" | "none" | "required") | {
                    name: string;
                } | null;
                /** @description Whether one reply may hold several calls */
                parallel_tool_calls?: boolean | null;
                /** @description The form of the reply's text */
                response_format?: {
                    /** @enum {string} */
                    type: "text";
                } | {
                    /** @enum {string} */
                    type: "json";
                } | {
                    /** @enum {string} */
                    type: "json_schema";
                    name: string;
                    /** @description The JSON Schema of the reply */
                    schema: {
                        [key: string]: unknown;
                    };
                    /** @description The provider must enforce the schema. Default: false */
                    strict?: boolean;
                } | null;
                /** @description How much the model thinks before it replies */
                reasoning?: {
                    /** @enum {string} */
                    effort: "none" | "minimal" | "low" | "medium" | "high";
                } | null;
            } | null;
            /** @description For this turn only, in place of the session's */
            model?: string | null;
            /** @description The system prompt, for this turn only, in place of the session's. An empty text: none; null: the session's */
            system?: string | null;
            /** @description Your own text about the turn, of at most 64 KB. No model reads it; `GET …/turns/:turn/settings` returns it */
            note?: string | null;
        };
        Redacted: {
            /** @description The id of a message */
            id: string;
            position: number;
        };
        Fork: {
            /** @description The last position that is shared; by default the newest, without a turn under way */
            at?: number;
            title?: string;
        };
        /** @description An event of the session's log. It holds ids, kinds, sizes and numbers, and no content */
        Event: components["schemas"]["SessionOpenedEvent"] | components["schemas"]["SettingsChangedEvent"] | components["schemas"]["PinsSetEvent"] | components["schemas"]["SessionForkedEvent"] | components["schemas"]["ForkCompletedEvent"] | components["schemas"]["SessionArchivedEvent"] | components["schemas"]["SessionUnarchivedEvent"] | components["schemas"]["SessionErasedEvent"] | components["schemas"]["MessagesAppendedEvent"] | components["schemas"]["MessageQueuedEvent"] | components["schemas"]["QueuedMessageCancelledEvent"] | components["schemas"]["MessageRedactedEvent"] | components["schemas"]["HistoryRewoundEvent"] | components["schemas"]["BranchSwitchedEvent"] | components["schemas"]["TurnStartedEvent"] | components["schemas"]["ModelCallFinishedEvent"] | components["schemas"]["AssistantRepliedEvent"] | components["schemas"]["ToolCalledEvent"] | components["schemas"]["ToolStartedEvent"] | components["schemas"]["ToolResultRecordedEvent"] | components["schemas"]["ApprovalRequestedEvent"] | components["schemas"]["ApprovalResolvedEvent"] | components["schemas"]["TurnCompletedEvent"] | components["schemas"]["TurnFailedEvent"] | components["schemas"]["TurnStoppedEvent"] | components["schemas"]["TurnInterruptedEvent"] | components["schemas"]["CompactionRequestedEvent"] | components["schemas"]["CompactionProgressedEvent"] | components["schemas"]["CompactionStartedEvent"] | components["schemas"]["CompactionFailedEvent"] | components["schemas"]["CompactionDraftedEvent"] | components["schemas"]["ScheduleSetEvent"] | components["schemas"]["ScheduleRanEvent"] | components["schemas"]["ScheduleRemovedEvent"] | components["schemas"]["DraftEditedEvent"] | components["schemas"]["EpochChangedEvent"];
        SessionOpenedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "SessionOpened";
            tenant_id: string;
            session: string;
            settings: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        SettingsChangedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "SettingsChanged";
            changes: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        PinsSetEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "PinsSet";
            pins: unknown[];
        } & {
            [key: string]: unknown;
        };
        SessionForkedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "SessionForked";
            from: string;
            position: number;
            view?: {
                [key: string]: unknown;
            };
            line?: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        ForkCompletedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "ForkCompleted";
        } & {
            [key: string]: unknown;
        };
        SessionArchivedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "SessionArchived";
            cause?: string;
        } & {
            [key: string]: unknown;
        };
        SessionUnarchivedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "SessionUnarchived";
        } & {
            [key: string]: unknown;
        };
        SessionErasedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "SessionErased";
            cause?: string;
        } & {
            [key: string]: unknown;
        };
        MessagesAppendedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "MessagesAppended";
            items: unknown[];
            dequeued: unknown[];
            aside?: boolean;
        } & {
            [key: string]: unknown;
        };
        MessageQueuedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "MessageQueued";
            message: {
                [key: string]: unknown;
            };
            front: boolean;
        } & {
            [key: string]: unknown;
        };
        QueuedMessageCancelledEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "QueuedMessageCancelled";
            message: string;
            turn: string | null;
        } & {
            [key: string]: unknown;
        };
        MessageRedactedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "MessageRedacted";
            item: string;
            position: number;
            texts: unknown[];
            tokens: number;
            cause?: string;
        } & {
            [key: string]: unknown;
        };
        HistoryRewoundEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "HistoryRewound";
            to: number;
            items: unknown[];
            line: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        BranchSwitchedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "BranchSwitched";
            items: unknown[];
            line: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        TurnStartedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "TurnStarted";
            turn: string;
            incarnation: string;
            attempt: number;
            item: {
                [key: string]: unknown;
            } | null;
            tools: {
                [key: string]: unknown;
            } | null;
            retry_of: string | null;
            generation?: {
                [key: string]: unknown;
            };
            model?: string;
            system?: {
                [key: string]: unknown;
            };
            note?: {
                [key: string]: unknown;
            };
            key?: string;
            whole?: boolean;
        } & {
            [key: string]: unknown;
        };
        ModelCallFinishedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "ModelCallFinished";
            turn: string | null;
            purpose: string;
            model: string;
            epoch: number;
            up_to: number;
            usage: {
                [key: string]: unknown;
            } | null;
            estimate: number;
            request_digest: string | null;
            outcome: string;
            ms: number;
            lease: number | null;
            rent?: number;
            ratio?: number;
            cost?: number;
            asked?: {
                [key: string]: unknown;
            };
            key?: string;
            end_user?: string;
            reservation?: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        AssistantRepliedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "AssistantReplied";
            turn: string;
            item: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        ToolCalledEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "ToolCalled";
            turn: string;
            item: {
                [key: string]: unknown;
            };
            server?: boolean;
            cut?: boolean;
        } & {
            [key: string]: unknown;
        };
        ToolStartedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "ToolStarted";
            turn: string;
            execution: string;
            incarnation: string;
        } & {
            [key: string]: unknown;
        };
        ToolResultRecordedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "ToolResultRecorded";
            turn: string;
            item: {
                [key: string]: unknown;
            };
            incarnation: string;
            ran?: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        ApprovalRequestedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "ApprovalRequested";
            turn: string;
            execution: string;
        } & {
            [key: string]: unknown;
        };
        ApprovalResolvedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "ApprovalResolved";
            turn: string;
            execution: string;
            approved: boolean;
            incarnation: string;
        } & {
            [key: string]: unknown;
        };
        TurnCompletedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "TurnCompleted";
            turn: string;
            finish: string;
        } & {
            [key: string]: unknown;
        };
        TurnFailedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "TurnFailed";
            turn: string;
            failure: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        TurnStoppedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "TurnStopped";
            turn: string;
            reason: string;
        } & {
            [key: string]: unknown;
        };
        TurnInterruptedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "TurnInterrupted";
            turn: string;
        } & {
            [key: string]: unknown;
        };
        CompactionRequestedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "CompactionRequested";
            compaction: string;
            trigger: string;
            base_epoch: number;
            options?: {
                [key: string]: unknown;
            };
            key?: string;
        } & {
            [key: string]: unknown;
        };
        CompactionProgressedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "CompactionProgressed";
            compaction: string;
            token: number;
            expires_at: number;
            part: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        CompactionStartedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "CompactionStarted";
            compaction: string;
            token: number;
            attempt: number;
            expires_at: number;
            base_epoch: number;
            range: {
                [key: string]: unknown;
            };
            source: {
                [key: string]: unknown;
            };
            reread_from?: number;
            replaces: unknown[];
            keeps: unknown[];
            merge: boolean;
            generation: number;
            split: number | null;
            mode: string;
            instructions?: {
                [key: string]: unknown;
            };
            instructions_left_out?: boolean;
            inline?: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        CompactionFailedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "CompactionFailed";
            compaction: string;
            token: number | null;
            attempt: number;
            failure: string;
            final: boolean;
        } & {
            [key: string]: unknown;
        };
        CompactionDraftedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "CompactionDrafted";
            compaction: string;
            token: number;
            overlay: string;
            summary: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        ScheduleSetEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "ScheduleSet";
            name: string;
            message: {
                [key: string]: unknown;
            };
            next_at: number;
            time: {
                [key: string]: unknown;
            };
            key?: string;
        } & {
            [key: string]: unknown;
        };
        ScheduleRanEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "ScheduleRan";
            name: string;
            due_at: number;
            turn: string | null;
            skipped: string | null;
            next_at: number | null;
        } & {
            [key: string]: unknown;
        };
        ScheduleRemovedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "ScheduleRemoved";
            name: string;
        } & {
            [key: string]: unknown;
        };
        DraftEditedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "DraftEdited";
            compaction: string;
            summary: {
                [key: string]: unknown;
            };
            by: string;
        } & {
            [key: string]: unknown;
        };
        EpochChangedEvent: {
            /** @description The event's place in the log, from 1 */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "EpochChanged";
            base_epoch: number;
            epoch: number;
            trigger: string;
            compaction: string | null;
            ops: unknown[];
            receipt: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        Compaction: {
            /** @description The id of a compaction */
            id: string;
            /** @description The seq of the event that requested it, or of the change itself if nothing requested it */
            seq: number;
            /** @enum {string} */
            trigger: "threshold" | "rent" | "inline" | "guard" | "overflow" | "model_switch" | "manual" | "fallback" | "results";
            /** @enum {string} */
            status: "requested" | "running" | "drafted" | "completed" | "failed" | "reverted";
            did_compact: boolean;
            /** @description Epoch milliseconds */
            requested_at: number;
            /** @description Epoch milliseconds */
            finished_at: number | null;
            attempts: number;
            /** @enum {string|null} */
            failure: "overflow" | "output_cap" | "payload" | "rate_limit" | "quota" | "media" | "invalid_param" | "auth" | "not_found" | "region" | "refused" | "unavailable" | "timeout" | "aborted" | "empty" | "cut_off" | "too_long" | "not_smaller" | "sections_missing" | "lease_expired" | "unknown_model" | "nothing_to_do" | "budget" | "superseded" | "discarded" | "internal" | null;
            epoch: number | null;
            /** @description Positions that left the view, or will leave it */
            range: {
                from: number;
                to: number;
            } | null;
            /** @description As requested by hand, like up_to and instructions */
            keep_recent: number | null;
            up_to: number | null;
            instructions: string | null;
            /** @description The request was to write the current summaries anew */
            rebuild: boolean;
            /** @description The model that the request named. Null: the session's policy decides */
            model: string | null;
            /** @description The policy that the request named, whose rules for summaries apply. Null: the session's policy decides */
            policy: ("oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim") | {
                /** @enum {string} */
                preset?: "oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim";
                trigger?: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at?: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio?: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio?: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound?: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor?: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens?: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio?: number;
                };
                keep?: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio?: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of?: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens?: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens?: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages?: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio?: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens?: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut?: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages?: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages?: boolean;
                };
                results?: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars?: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut?: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear?: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full?: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio?: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond?: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars?: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools?: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools?: string[];
                };
                summary?: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form?: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement?: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens?: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio?: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after?: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode?: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact?: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts?: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models?: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms?: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions?: string | null;
                };
                tools?: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds?: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall?: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models?: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure?: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window?: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator?: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio?: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model?: string | null;
            } | null;
            /** @description Null if it was not requested as a draft */
            draft: {
                /** @description The number of edits, which the next edit or a commit must name */
                edits: number;
                /** @description The API key of the last editor. Null if the draft was not edited */
                edited_by: string | null;
                /** @description Epoch milliseconds */
                edited_at: number | null;
            } | null;
            summary: string | null;
            /** @description For a draft that is read by itself: what committing it now would do */
            receipt: {
                /** @description The size of the next request before the change */
                tokens_before: {
                    tokens: number;
                    /**
                     * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                     * @enum {string}
                     */
                    source: "reported" | "estimated" | "mixed";
                    /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                    error_bound: number;
                };
                /** @description The size of the next request after the change */
                tokens_after: {
                    tokens: number;
                    /**
                     * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                     * @enum {string}
                     */
                    source: "reported" | "estimated" | "mixed";
                    /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                    error_bound: number;
                };
                items_before: number;
                items_after: number;
                /** @description The model that was asked for a summary, also if it delivered none. Null if no model was asked */
                model: string | null;
                /** @description Sum over all calls of the compaction that reported usage. Null if no call reported any */
                usage: {
                    /** @description Cached tokens included */
                    input: number;
                    output: number;
                    cached: number;
                    /** @description Part of `output`. If it is larger than `output`, the provider counts it separately */
                    reasoning: number;
                    /** @description Part of `input`. Absent if the provider did not report it */
                    cache_write?: number;
                } | null;
                /** @description Total duration of those calls in milliseconds */
                ms: number;
                /** @description US dollars of those calls. Null if the cost of any of them is unknown */
                cost: number | null;
                /** @description In the model's price unit: the cost of reading the next request before and after, and the expected price of the change */
                economy: {
                    read_cost_before: number;
                    read_cost_after: number;
                    price: number;
                    /** @description Tokens at the start of the next request that the provider's cache is expected to hold still */
                    cache_kept: number;
                };
                /** @description Steps of the ladder in the order taken */
                rungs: {
                    rung: string;
                    /** @description Tokens of the next request that it was expected to free */
                    gain: number;
                    reason: string;
                }[];
                /** @enum {string|null} */
                mode: "transcript" | "same_prefix" | null;
                attempts: number;
                /** @description Whether the breaker was open when the view changed. While it is open, a model is asked only by hand */
                breaker_open: boolean;
                /** @description Messages that left the view without a summary */
                dropped_items: number;
                /** @description How many secrets were replaced in what the summariser read. Absent unless the policy redacts (`summary.redact`) */
                redacted?: number;
                /** @description The last editor of the draft, by API key. Absent if the summary is as the model wrote it */
                edited?: {
                    /** @description The id of an API key */
                    by: string;
                    /** @description Epoch milliseconds */
                    at: number;
                };
                /**
                 * @description What became of the standing instructions (summary_instructions of the session, summary.instructions of its policy). `applied`: the summariser was given them. `left_out`: it was not, because an earlier answer could not be used, the breaker was open, or they would have left it too little room. Null if there were none, or if no model wrote the summary
                 * @enum {string|null}
                 */
                summary_instructions: "applied" | "left_out" | null;
                /** @description Files that tool calls read and modified, as the summary or the note lists them, including those of the summaries that it replaced. Null if there is no list */
                files: {
                    read: string[];
                    modified: string[];
                } | null;
            } | null;
            /** @description The effect of the change on the provider's cache: expected and actual */
            cache: {
                /** @description Tokens at the start of the next request that should still be cached */
                expected: number;
                /** @description The first call of a turn in the new epoch, as the provider counted it */
                first_call: {
                    model: string;
                    input: number;
                    cached: number;
                    /** @description Epoch milliseconds */
                    at: number;
                } | null;
            } | null;
            /** @description The change that reverted it */
            reverted: {
                /** @description The id of a compaction */
                by: string;
                /** @description Epoch milliseconds */
                at: number;
            } | null;
            /** @description What the change of the view did, by positions and ids */
            ops: ({
                /** @enum {string} */
                op: "summarize" | "drop" | "clear_results" | "shorten" | "evict_media" | "revert" | "reset";
            } & {
                [key: string]: unknown;
            })[];
        };
        Context: {
            model: string;
            policy: ("oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim") | {
                /** @enum {string} */
                preset?: "oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim";
                trigger?: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at?: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio?: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio?: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound?: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor?: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens?: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio?: number;
                };
                keep?: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio?: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of?: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens?: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens?: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages?: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio?: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens?: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut?: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages?: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages?: boolean;
                };
                results?: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars?: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut?: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear?: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full?: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio?: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond?: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars?: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools?: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools?: string[];
                };
                summary?: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form?: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement?: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens?: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio?: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after?: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode?: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact?: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts?: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models?: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms?: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions?: string | null;
                };
                tools?: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds?: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall?: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models?: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure?: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window?: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator?: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio?: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model?: string | null;
            };
            epoch: number;
            context_window: number | null;
            /** @description The window that the policy assumes for an unknown one. Null if the window is known, or the policy assumes none */
            assumed_window: number | null;
            /** @description The most tokens of a request: the window minus the reserve. Null without a known or assumed window */
            limit: number | null;
            reserve: number | null;
            total: {
                tokens: number;
                /**
                 * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                 * @enum {string}
                 */
                source: "reported" | "estimated" | "mixed";
                /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                error_bound: number;
            };
            /** @description The parts of the request with their tokens */
            parts: {
                /** @enum {string} */
                part: "system" | "tools" | "pins" | "summary" | "dropped" | "message";
                position: number | null;
                tokens: number;
                /** @enum {string} */
                source: "reported" | "estimated";
                /** @description The largest error of `tokens`, in either direction */
                error_bound: number;
            }[];
            /** @description A model would be asked for a summary before this request. The rest of the report shows the request that is sent if no summary is available */
            compaction_first: {
                /** @enum {string} */
                trigger: "threshold" | "rent" | "inline" | "guard" | "overflow" | "model_switch" | "manual" | "fallback" | "results";
                expected: {
                    tokens: number;
                    /**
                     * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                     * @enum {string}
                     */
                    source: "reported" | "estimated" | "mixed";
                    /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                    error_bound: number;
                };
            } | null;
            /** @description The next request, byte for byte */
            request: {
                /** @description Without what may be a secret. Null if the address is the deployment's */
                url: string | null;
                body: string;
            };
        };
        PastContext: {
            /** @description The id of a turn */
            turn_id: string;
            /** @description Which of `calls` this is, from 1 */
            call: number;
            /** @description The turn's calls in order, including tool rounds, retries, fallback models and recoveries */
            calls: {
                n: number;
                /** @description The seq of the event that recorded the call */
                seq: number;
                /** @enum {string} */
                purpose: "turn";
                model: string;
                epoch: number;
                /** @enum {string} */
                outcome: "stop" | "length" | "tool_calls" | "content_filter" | "other" | "overflow" | "output_cap" | "payload" | "rate_limit" | "quota" | "media" | "invalid_param" | "auth" | "not_found" | "region" | "refused" | "unavailable" | "timeout" | "aborted" | "cannot_fit" | "round_limit" | "no_progress" | "budget" | "suspended" | "storage_full" | "unknown_model" | "crashed" | "internal" | "stale";
                /** @description SHA-256 of the body that was sent, hexadecimal. Null if none was recorded */
                digest: string | null;
            }[];
            model: string;
            /** @description The policy at that time */
            policy: ("oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim") | {
                /** @enum {string} */
                preset?: "oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim";
                trigger?: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at?: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio?: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio?: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound?: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor?: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens?: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio?: number;
                };
                keep?: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio?: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of?: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens?: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens?: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages?: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio?: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens?: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut?: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages?: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages?: boolean;
                };
                results?: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars?: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut?: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear?: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full?: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio?: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond?: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars?: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools?: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools?: string[];
                };
                summary?: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form?: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement?: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens?: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio?: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after?: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode?: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact?: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts?: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models?: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms?: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions?: string | null;
                };
                tools?: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds?: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall?: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models?: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure?: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window?: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator?: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio?: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model?: string | null;
            };
            epoch: number;
            /** @description The last event that the request was built on */
            seq: number;
            /** @description Epoch milliseconds */
            sent_at: number;
            context_window: number | null;
            /** @description The window that the policy assumes for an unknown one. Null if the window is known, or the policy assumes none */
            assumed_window: number | null;
            /** @description The most tokens of a request: the window minus the reserve. Null without a known or assumed window */
            limit: number | null;
            reserve: number | null;
            total: {
                tokens: number;
                /**
                 * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                 * @enum {string}
                 */
                source: "reported" | "estimated" | "mixed";
                /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                error_bound: number;
            };
            /** @description The parts of the request with their tokens */
            parts: {
                /** @enum {string} */
                part: "system" | "tools" | "pins" | "summary" | "dropped" | "message";
                position: number | null;
                tokens: number;
                /** @enum {string} */
                source: "reported" | "estimated";
                /** @description The largest error of `tokens`, in either direction */
                error_bound: number;
            }[];
            /** @description The request, rebuilt from the log */
            request: {
                /** @description Without what may be a secret. Null if the address is the deployment's */
                url: string | null;
                body: string;
            };
            digest: {
                /** @description SHA-256 of the body that was sent, hexadecimal. Null if none was recorded */
                recorded: string | null;
                rebuilt: string;
                /** @description Null if no digest was recorded */
                matches: boolean | null;
                /**
                 * @description Why the digests differ. redacted: content of the request was redacted later; null: they match, or this build builds the request differently
                 * @enum {string|null}
                 */
                reason: "redacted" | null;
            };
        };
        NextMessage: {
            content: string;
        };
        ContextDiff: {
            from: {
                /** @description Null: the next request */
                turn_id: string | null;
                call: number | null;
                seq: number;
                model: string;
                epoch: number;
                /** @description Estimated, like all figures of a comparison, by one measure */
                tokens: number;
            };
            to: {
                /** @description Null: the next request */
                turn_id: string | null;
                call: number | null;
                seq: number;
                model: string;
                epoch: number;
                /** @description Estimated, like all figures of a comparison, by one measure */
                tokens: number;
            };
            changed: {
                model: boolean;
                policy: boolean;
                system: boolean;
                tools: boolean;
                pins: boolean;
            };
            /** @description The common beginning of both requests: what a provider's cache of the first could serve for the second, if the model is the same */
            prefix: {
                messages: number;
                tokens: number;
            };
            /** @description Messages that both requests show alike */
            both: {
                count: number;
                tokens: number;
            };
            /** @description `count` and `tokens` cover all entries; `data` has the newest 200 */
            left: {
                count: number;
                tokens: number;
                data: {
                    /** @description The id of a message */
                    id: string;
                    position: number;
                    /** @enum {string} */
                    kind: "system" | "user" | "assistant" | "tool_call" | "tool_result";
                    tokens: number;
                }[];
            };
            /** @description `count` and `tokens` cover all entries; `data` has the newest 200 */
            came: {
                count: number;
                tokens: number;
                data: {
                    /** @description The id of a message */
                    id: string;
                    position: number;
                    /** @enum {string} */
                    kind: "system" | "user" | "assistant" | "tool_call" | "tool_result";
                    tokens: number;
                }[];
            };
            /** @description `count` and `tokens` cover all entries; `data` has the newest 200 */
            less: {
                count: number;
                tokens: number;
                data: {
                    /** @description The id of a message */
                    id: string;
                    position: number;
                    /** @enum {string} */
                    kind: "system" | "user" | "assistant" | "tool_call" | "tool_result";
                    tokens: number;
                    /**
                     * @description unsigned: without the parts that only their own provider accepts, such as signed reasoning
                     * @enum {string}
                     */
                    shown: "whole" | "shortened" | "cleared" | "evicted" | "unsigned";
                    was: {
                        /**
                         * @description unsigned: without the parts that only their own provider accepts, such as signed reasoning
                         * @enum {string}
                         */
                        shown: "whole" | "shortened" | "cleared" | "evicted" | "unsigned";
                        tokens: number;
                    };
                }[];
            };
            /** @description `count` and `tokens` cover all entries; `data` has the newest 200 */
            more: {
                count: number;
                tokens: number;
                data: {
                    /** @description The id of a message */
                    id: string;
                    position: number;
                    /** @enum {string} */
                    kind: "system" | "user" | "assistant" | "tool_call" | "tool_result";
                    tokens: number;
                    /**
                     * @description unsigned: without the parts that only their own provider accepts, such as signed reasoning
                     * @enum {string}
                     */
                    shown: "whole" | "shortened" | "cleared" | "evicted" | "unsigned";
                    was: {
                        /**
                         * @description unsigned: without the parts that only their own provider accepts, such as signed reasoning
                         * @enum {string}
                         */
                        shown: "whole" | "shortened" | "cleared" | "evicted" | "unsigned";
                        tokens: number;
                    };
                }[];
            };
            summaries: {
                /** @description `count` and `tokens` cover all entries; `data` has the newest 200 */
                left: {
                    count: number;
                    tokens: number;
                    data: {
                        /** @description The id of a summary or a gap of the view */
                        id: string;
                        /** @enum {string} */
                        kind: "summary" | "dropped";
                        from: number;
                        to: number;
                        items: number;
                        tokens: number;
                        /** @description The compaction that added or removed it. Null if no recorded change between the two requests did */
                        by: string | null;
                    }[];
                };
                /** @description `count` and `tokens` cover all entries; `data` has the newest 200 */
                came: {
                    count: number;
                    tokens: number;
                    data: {
                        /** @description The id of a summary or a gap of the view */
                        id: string;
                        /** @enum {string} */
                        kind: "summary" | "dropped";
                        from: number;
                        to: number;
                        items: number;
                        tokens: number;
                        /** @description The compaction that added or removed it. Null if no recorded change between the two requests did */
                        by: string | null;
                    }[];
                };
            };
            /** @description Changes of the view between the two requests, at most the newest 200 */
            epochs: {
                seq: number;
                /** @description Epoch milliseconds */
                at: number;
                epoch: number;
                /** @enum {string} */
                trigger: "threshold" | "rent" | "inline" | "guard" | "overflow" | "model_switch" | "manual" | "fallback" | "results";
                /** @description The id of a compaction */
                compaction_id: string | null;
            }[];
        };
        Recall: {
            /** @description Best first. For an execution or a range, in order of position */
            data: components["schemas"]["RecallHit"][];
            /** @description The text that the model would read */
            text: string;
            /** @description The size of `text`. Always estimated */
            tokens: {
                tokens: number;
                /**
                 * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                 * @enum {string}
                 */
                source: "reported" | "estimated" | "mixed";
                /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                error_bound: number;
            };
            /** @description The input for the rest. Null if this is everything */
            next: {
                /** @description Null for an execution */
                from: number | null;
                to: number | null;
                /** @description UTF-16 units to skip */
                offset: number;
            } | null;
        };
        RecallHit: {
            /** @description The id of a message */
            id: string;
            position: number;
            /** @enum {string} */
            kind: "system" | "user" | "assistant" | "tool_call" | "tool_result";
            /** @description Epoch milliseconds */
            created_at: number;
            /** @description The id of a tool call */
            execution_id: string | null;
            /** @description The model's view shows the item unchanged */
            in_view: boolean;
            /** @description One line: the whole text, or the part around the words that match */
            snippet: string;
            /** @description Comparable only with the hits of the same answer. 0 without a search */
            score: number;
            /** @description The messages next to the hit that are no hits themselves */
            neighbours: {
                position: number;
                /** @enum {string} */
                kind: "system" | "user" | "assistant" | "tool_call" | "tool_result";
                snippet: string;
            }[];
        };
        RecallQuestion: {
            /** @description Words to search for, within `from` and `to` if given */
            q?: string;
            /** @description A call with its arguments and its recorded result */
            execution_id?: string;
            /** @description First position */
            from?: number;
            /** @description Last position */
            to?: number;
            /**
             * @description The most hits. `text` has a limit of its own
             * @default 60
             */
            limit?: number;
            /** @description UTF-16 units of an execution or a range to skip */
            offset?: number;
        };
        CompactionPlan: {
            /** @enum {string} */
            kind: "none";
            /** @enum {string} */
            reason: "unknown_window" | "below_threshold" | "nothing_older" | "fits" | "suspended" | "no_summary" | "not_by_policy";
            next: {
                tokens: number;
                /**
                 * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                 * @enum {string}
                 */
                source: "reported" | "estimated" | "mixed";
                /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                error_bound: number;
            };
            breaker: components["schemas"]["CompactionBreaker"];
        } | {
            /** @enum {string} */
            kind: "compact";
            /** @enum {string} */
            trigger: "threshold" | "rent" | "inline" | "guard" | "overflow" | "model_switch" | "manual" | "fallback" | "results";
            base_epoch: number;
            next: {
                tokens: number;
                /**
                 * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                 * @enum {string}
                 */
                source: "reported" | "estimated" | "mixed";
                /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                error_bound: number;
            };
            /** @description The next request after all rungs are taken */
            expected: {
                tokens: number;
                /**
                 * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                 * @enum {string}
                 */
                source: "reported" | "estimated" | "mixed";
                /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                error_bound: number;
            };
            rungs: ({
                /** @enum {string} */
                rung: "clear_results";
                items: {
                    position: number;
                    tokens: number;
                }[];
                /** @description Tokens of the next request that it frees, in the unit of current_context_tokens */
                gain: number;
                reason: string;
            } | {
                /** @enum {string} */
                rung: "evict_media";
                items: {
                    position: number;
                    tokens: number;
                }[];
                /** @description Tokens of the next request that it frees, in the unit of current_context_tokens */
                gain: number;
                reason: string;
            } | {
                /** @enum {string} */
                rung: "shorten";
                items: {
                    position: number;
                    tokens: number;
                }[];
                chars: number;
                /** @description Tokens of the next request that it frees, in the unit of current_context_tokens */
                gain: number;
                reason: string;
            } | {
                /** @enum {string} */
                rung: "drop";
                from: number;
                to: number;
                replaces: string[];
                items: number;
                /** @description Tokens of the next request that it frees, in the unit of current_context_tokens */
                gain: number;
                reason: string;
            } | {
                /** @enum {string} */
                rung: "summarize";
                range: {
                    from: number;
                    to: number;
                };
                source: {
                    from: number;
                    to: number;
                };
                /** @description Raw tokens of earlier messages that the summary reads again */
                reread: number;
                replaces: string[];
                keeps: number[];
                merge: boolean;
                generation: number;
                split: number | null;
                /** @enum {string} */
                mode: "transcript" | "same_prefix";
                items: number;
                tokens: number;
                /** @description Expected size of the summary in raw tokens */
                expected: number;
                boundary_timestamp: number;
                /** @description Tokens of the next request that it frees, in the unit of current_context_tokens */
                gain: number;
                reason: string;
            })[];
            /** @description The rungs that are taken if no summary can be made. Empty for a request by hand, because nothing has to leave */
            fallback: ({
                /** @enum {string} */
                rung: "clear_results";
                items: {
                    position: number;
                    tokens: number;
                }[];
                /** @description Tokens of the next request that it frees, in the unit of current_context_tokens */
                gain: number;
                reason: string;
            } | {
                /** @enum {string} */
                rung: "evict_media";
                items: {
                    position: number;
                    tokens: number;
                }[];
                /** @description Tokens of the next request that it frees, in the unit of current_context_tokens */
                gain: number;
                reason: string;
            } | {
                /** @enum {string} */
                rung: "shorten";
                items: {
                    position: number;
                    tokens: number;
                }[];
                chars: number;
                /** @description Tokens of the next request that it frees, in the unit of current_context_tokens */
                gain: number;
                reason: string;
            } | {
                /** @enum {string} */
                rung: "drop";
                from: number;
                to: number;
                replaces: string[];
                items: number;
                /** @description Tokens of the next request that it frees, in the unit of current_context_tokens */
                gain: number;
                reason: string;
            } | {
                /** @enum {string} */
                rung: "summarize";
                range: {
                    from: number;
                    to: number;
                };
                source: {
                    from: number;
                    to: number;
                };
                /** @description Raw tokens of earlier messages that the summary reads again */
                reread: number;
                replaces: string[];
                keeps: number[];
                merge: boolean;
                generation: number;
                split: number | null;
                /** @enum {string} */
                mode: "transcript" | "same_prefix";
                items: number;
                tokens: number;
                /** @description Expected size of the summary in raw tokens */
                expected: number;
                boundary_timestamp: number;
                /** @description Tokens of the next request that it frees, in the unit of current_context_tokens */
                gain: number;
                reason: string;
            })[];
            economy: {
                rent: number;
                price: number;
                read_cost_before: number;
                read_cost_after: number;
                cache_kept: number;
            } | null;
            /** @description The breaker in the plan. A request by hand resets it; `breaker` is its state now */
            breaker_open: boolean;
            breaker: components["schemas"]["CompactionBreaker"];
        } | {
            /** @enum {string} */
            kind: "cannot_fit";
            fit: {
                /** @description Tokens that no compaction can remove */
                floor: number;
                /** @description The most tokens of a request to the model */
                limit: number;
                /** @description The largest parts of the request */
                biggest: {
                    what: string;
                    tokens: number;
                    bytes?: number;
                }[];
                /** @description Present if bytes are the reason: the bytes that no compaction can remove, and the most bytes of a request. `limit` is then the same bound in tokens */
                bytes?: {
                    floor: number;
                    limit: number;
                };
            };
            breaker: components["schemas"]["CompactionBreaker"];
        };
        Compact: {
            /** @description Returns only the plan. Nothing is stored */
            dry_run?: boolean;
            /** @description What this summary should pay attention to, beside the session's summary_instructions or its policy's */
            instructions?: string | null;
            /** @description Tokens to keep verbatim. By default, the policy decides */
            keep_recent?: number | null;
            /** @description The last position that may be compacted */
            up_to?: number | null;
            /** @description The compaction waits until it is committed or discarded, and can be edited before. One draft at a time */
            draft?: boolean;
            /** @description Writes the current summaries anew, as one, from the messages that they cover. Nothing else leaves the view */
            rebuild?: boolean;
            /** @description The model that writes the summary. By default, the policy decides */
            model?: string;
            /** @description Merged over the session's policy for this compaction only. Only its rules for summaries apply (form, length, attempts) */
            policy?: ("oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim") | {
                /** @enum {string} */
                preset?: "oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim";
                trigger?: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at?: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio?: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio?: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound?: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor?: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens?: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio?: number;
                };
                keep?: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio?: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of?: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens?: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens?: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages?: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio?: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens?: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut?: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages?: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages?: boolean;
                };
                results?: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars?: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut?: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear?: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full?: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio?: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond?: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars?: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools?: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools?: string[];
                };
                summary?: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form?: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement?: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens?: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio?: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after?: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode?: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact?: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts?: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models?: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms?: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions?: string | null;
                };
                tools?: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds?: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall?: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models?: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure?: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window?: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator?: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio?: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model?: string | null;
            };
        };
        Pins: {
            pins: components["schemas"]["Pin"][];
        };
        PutPins: {
            pins: (string | {
                /** @description A text of one's own. Ignored beside a message, whose words are copied anew */
                text?: string;
                /** @description A message, or a call inside a reply, of any branch */
                message_id?: string | null;
                /** @description The same by its place */
                position?: number | null;
            })[];
        };
        Schedule: {
            name: string;
            /** @description Five fields: minute, hour, day of the month, month, day of the week */
            cron: string | null;
            /** @description The IANA time zone of `cron` */
            timezone: string | null;
            /** @description For a schedule that runs once: when. Epoch milliseconds */
            at: number | null;
            /** @description The text of the user's message */
            message: string;
            /** @description When it runs next, epoch milliseconds. Null: not again */
            next_at: number | null;
            last_run: {
                /** @description Epoch milliseconds */
                due_at: number;
                /** @description When it ran. Later than `due_at` if the service was away, or no turn could start */
                at: number;
                /** @description The turn that it started, or that waits in the session's queue */
                turn_id: string | null;
                /**
                 * @description Why it started no turn. Nothing was appended
                 * @enum {string|null}
                 */
                skipped: "busy" | "limit" | "budget" | "suspended" | "message_limit" | "storage_full" | "unavailable" | "refused" | null;
            } | null;
            /** @description Epoch milliseconds */
            updated_at: number;
        };
        PutSchedule: {
            /** @description The text of the user's message */
            message: string;
            /** @description Again and again, at most once a minute. Five fields: minute, hour, day of the month, month, day of the week */
            cron?: string;
            /** @description The time zone of `cron`. Absent: UTC */
            timezone?: string;
            /** @description Once: epoch milliseconds, or an ISO 8601 time with its offset */
            at?: number | string;
        };
        EditDraft: {
            /** @description The complete new text: at most 64,000 characters, or the policy's cap if that is larger */
            summary: string;
            /** @description `draft.edits` as the client read it. A draft that was edited since then is refused (409) */
            edits: number;
        };
        CommitDraft: {
            /** @description `draft.edits` as the client read it. A draft that was edited since then is refused (409) */
            edits?: number;
        };
        SummaryComparison: {
            a: {
                /** @description A committed compaction or a draft, by its id. `current`: the summaries in the view, as one text */
                summary: "current" | string;
                text: string;
                /** @description The size of `text`. Always estimated */
                tokens: {
                    tokens: number;
                    /**
                     * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                     * @enum {string}
                     */
                    source: "reported" | "estimated" | "mixed";
                    /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                    error_bound: number;
                };
                /** @description Positions that the summary covers */
                range: {
                    from: number;
                    to: number;
                };
                /** @description The model that wrote the summary. Null: several models, no model, or unknown */
                model: string | null;
                /**
                 * @description What became of the standing instructions (summary_instructions of the session, summary.instructions of its policy). `applied`: the summariser was given them. `left_out`: it was not, because an earlier answer could not be used, the breaker was open, or they would have left it too little room. Null if there were none, or if no model wrote the summary
                 * @enum {string|null}
                 */
                summary_instructions: "applied" | "left_out" | null;
                /** @description Null if the summary has not changed since the model wrote it */
                edited: {
                    /** @description The id of an API key */
                    by: string;
                    /** @description Epoch milliseconds */
                    at: number;
                } | null;
                /** @description How many of `terms` the summary contains */
                kept: number;
            };
            b: {
                /** @description A committed compaction or a draft, by its id. `current`: the summaries in the view, as one text */
                summary: "current" | string;
                text: string;
                /** @description The size of `text`. Always estimated */
                tokens: {
                    tokens: number;
                    /**
                     * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                     * @enum {string}
                     */
                    source: "reported" | "estimated" | "mixed";
                    /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                    error_bound: number;
                };
                /** @description Positions that the summary covers */
                range: {
                    from: number;
                    to: number;
                };
                /** @description The model that wrote the summary. Null: several models, no model, or unknown */
                model: string | null;
                /**
                 * @description What became of the standing instructions (summary_instructions of the session, summary.instructions of its policy). `applied`: the summariser was given them. `left_out`: it was not, because an earlier answer could not be used, the breaker was open, or they would have left it too little room. Null if there were none, or if no model wrote the summary
                 * @enum {string|null}
                 */
                summary_instructions: "applied" | "left_out" | null;
                /** @description Null if the summary has not changed since the model wrote it */
                edited: {
                    /** @description The id of an API key */
                    by: string;
                    /** @description Epoch milliseconds */
                    at: number;
                } | null;
                /** @description How many of `terms` the summary contains */
                kept: number;
            };
            /** @description The most frequent names, numbers and identifiers in the messages that either summary covers, at most 100. Messages of branches that were left are not read */
            terms: {
                term: string;
                /** @enum {string} */
                kind: "identifier" | "number" | "name";
                /** @description How often the messages contain the term */
                count: number;
                in_a: boolean;
                in_b: boolean;
            }[];
            /** @description Whether all of those messages were read */
            terms_complete: boolean;
            diff: {
                /** @enum {string} */
                in: "a" | "b" | "both";
                line: string;
            }[];
            /** @description The model that answered. Null if no question was asked */
            model: string | null;
            questions: {
                question: string;
                expect: string | null;
                a: {
                    text: string | null;
                    /**
                     * @description Why there is no answer. Null if there is one
                     * @enum {string|null}
                     */
                    failure: "overflow" | "output_cap" | "payload" | "rate_limit" | "quota" | "media" | "invalid_param" | "auth" | "not_found" | "region" | "refused" | "unavailable" | "timeout" | "aborted" | "empty" | "cut_off" | "too_long" | "not_smaller" | "sections_missing" | "lease_expired" | "unknown_model" | "nothing_to_do" | "budget" | "superseded" | "discarded" | "internal" | null;
                    /** @description Whether the answer contains what was expected. Null if there is no answer, or nothing was expected */
                    holds: boolean | null;
                    /** @description Whether the summary itself contains what was expected. Null if nothing was expected */
                    in_summary: boolean | null;
                    usage: {
                        /** @description Cached tokens included */
                        input: number;
                        output: number;
                        cached: number;
                        /** @description Part of `output`. If it is larger than `output`, the provider counts it separately */
                        reasoning: number;
                        /** @description Part of `input`. Absent if the provider did not report it */
                        cache_write?: number;
                    } | null;
                };
                b: {
                    text: string | null;
                    /**
                     * @description Why there is no answer. Null if there is one
                     * @enum {string|null}
                     */
                    failure: "overflow" | "output_cap" | "payload" | "rate_limit" | "quota" | "media" | "invalid_param" | "auth" | "not_found" | "region" | "refused" | "unavailable" | "timeout" | "aborted" | "empty" | "cut_off" | "too_long" | "not_smaller" | "sections_missing" | "lease_expired" | "unknown_model" | "nothing_to_do" | "budget" | "superseded" | "discarded" | "internal" | null;
                    /** @description Whether the answer contains what was expected. Null if there is no answer, or nothing was expected */
                    holds: boolean | null;
                    /** @description Whether the summary itself contains what was expected. Null if nothing was expected */
                    in_summary: boolean | null;
                    usage: {
                        /** @description Cached tokens included */
                        input: number;
                        output: number;
                        cached: number;
                        /** @description Part of `output`. If it is larger than `output`, the provider counts it separately */
                        reasoning: number;
                        /** @description Part of `input`. Absent if the provider did not report it */
                        cache_write?: number;
                    } | null;
                };
            }[];
        };
        CompareSummaries: {
            /** @description A committed compaction or a draft, by its id. `current`: the summaries in the view, as one text */
            a: "current" | string;
            /** @description A committed compaction or a draft, by its id. `current`: the summaries in the view, as one text */
            b: "current" | string;
            /** @description A model answers each question from summary a alone, then from summary b alone: two calls a question */
            questions?: {
                question: string;
                /** @description What a good answer contains */
                expect?: string;
            }[];
            /** @description The model that answers. By default the session's model */
            model?: string;
        };
        /** @description An execution from the read model, with its content */
        ExecutionDetail: {
            /** @description The id of a tool call */
            id: string;
            /** @description The id of a session */
            session_id: string;
            /** @description Null if the call was imported */
            turn_id: string | null;
            /** @description The call's position in the conversation */
            position: number;
            /** @description The result's position. Null if there is no result */
            result_position: number | null;
            tool_name: string;
            /** @description The provider's own id of the call, which may repeat */
            call_id: string;
            /**
             * @description Which side runs the call
             * @enum {string}
             */
            runs: "client" | "server";
            /**
             * @description unknown: the call started, or was imported without a result, and its end was not recorded; cancelled: its turn ended before the call started or was answered
             * @enum {string}
             */
            status: "open" | "awaiting_approval" | "running" | "succeeded" | "failed" | "denied" | "cancelled" | "unknown";
            /** @description Null if the call has not ended, or its outcome is unknown */
            success: boolean | null;
            /** @description The exit code of a process. Null if unknown */
            exit_code: number | null;
            /** @description From the start to the end. Null if it was not measured */
            duration_ms: number | null;
            /**
             * @description Null if the call did not fail, or if the client reported a failure without details
             * @enum {string|null}
             */
            failure: "tool_error" | "unknown_tool" | "invalid_arguments" | "denied" | "refused_address" | "unreachable" | "timeout" | "status" | "too_large" | "not_configured" | "unknown_outcome" | "internal" | null;
            /** @description The beginning of the output of a failed call */
            error_message: string | null;
            /** @description JSON text, as the model wrote it */
            arguments: string;
            /** @description When the call was recorded, epoch milliseconds */
            created_at: number;
            /** @description Null if the call did not start here, has no effect outside, or was run by the client */
            started_at: number | null;
            /** @description Null if the call has not ended, or its end is unknown */
            finished_at: number | null;
            /**
             * @description cut: only the beginning is included; missing, redacted: the content is not available
             * @enum {string}
             */
            arguments_state: "full" | "cut" | "redacted" | "missing";
            /** @description The output as it was recorded. Null if there is none yet, or it is not available */
            output: string | null;
            /**
             * @description Null if there is no result
             * @enum {string|null}
             */
            output_state: "full" | "cut" | "redacted" | "missing" | null;
            artifacts: {
                /** @description Counts from 0, in the order of arrival */
                number: number;
                type: string;
                /** @description Size of its content as JSON, in UTF-8 */
                bytes: number;
                /** @description Any JSON value. For a cut artifact, the beginning of its JSON text */
                content?: unknown;
                /**
                 * @description cut: only the beginning is included; missing, redacted: the content is not available
                 * @enum {string}
                 */
                content_state: "full" | "cut" | "redacted" | "missing";
            }[];
        };
        Execution: {
            /** @description The id of a tool call */
            id: string;
            /** @description The id of a session */
            session_id: string;
            /** @description Null if the call was imported */
            turn_id: string | null;
            /** @description The call's position in the conversation */
            position: number;
            /** @description The result's position. Null if there is no result */
            result_position: number | null;
            tool_name: string;
            /** @description The provider's own id of the call, which may repeat */
            call_id: string;
            /**
             * @description Which side runs the call
             * @enum {string}
             */
            runs: "client" | "server";
            /**
             * @description unknown: the call started, or was imported without a result, and its end was not recorded; cancelled: its turn ended before the call started or was answered
             * @enum {string}
             */
            status: "open" | "awaiting_approval" | "running" | "succeeded" | "failed" | "denied" | "cancelled" | "unknown";
            /** @description Null if the call has not ended, or its outcome is unknown */
            success: boolean | null;
            /** @description The exit code of a process. Null if unknown */
            exit_code: number | null;
            /** @description From the start to the end. Null if it was not measured */
            duration_ms: number | null;
            /**
             * @description Null if the call did not fail, or if the client reported a failure without details
             * @enum {string|null}
             */
            failure: "tool_error" | "unknown_tool" | "invalid_arguments" | "denied" | "refused_address" | "unreachable" | "timeout" | "status" | "too_large" | "not_configured" | "unknown_outcome" | "internal" | null;
            /** @description The beginning of the output of a failed call */
            error_message: string | null;
            /** @description JSON text, as the model wrote it */
            arguments: string;
            /** @description When the call was recorded, epoch milliseconds */
            created_at: number;
            /** @description Null if the call did not start here, has no effect outside, or was run by the client */
            started_at: number | null;
            /** @description Null if the call has not ended, or its end is unknown */
            finished_at: number | null;
            /** @description The call's own id, as `tool_calls` of its message has it */
            item_id: string;
            /** @description Null if no person was asked */
            approval: {
                /**
                 * @description Null until a person has answered
                 * @enum {string|null}
                 */
                answer: "approved" | "denied" | null;
                /** @description The turn has waited for the answer. false: other calls ran meanwhile */
                turn_waited: boolean;
            } | null;
            artifacts: {
                /** @description Counts from 0, in the order of arrival */
                number: number;
                type: string;
                /** @description Size of its content as JSON, in UTF-8 */
                bytes: number;
            }[];
        };
        ListedPolicy: {
            /** @enum {string} */
            name: "oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim";
            /**
             * @description `profile`: one of Longhand's own four. `preset`: the rules of an earlier system, for comparison and for sessions that rely on them
             * @enum {string}
             */
            kind: "profile" | "preset";
            /** @description What it is for, in one line */
            purpose: string;
            /** @description When it compacts, in one sentence */
            compacts: string;
            /** @description What stays verbatim, in one sentence */
            keeps: string;
            /** @description The page of the documentation that has its measured cost and what it keeps */
            figures: string;
            /** @description All its values. Only with `include=parameters` */
            policy?: {
                trigger: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio: number;
                };
                keep: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages: boolean;
                };
                results: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools: string[];
                };
                summary: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions: string | null;
                };
                tools: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model: string | null;
            };
        };
        PolicyParameter: {
            path: string;
            types: string[];
            minimum: number | null;
            maximum: number | null;
            /** @description The allowed values. Null if they cannot be listed */
            values: string[] | null;
            description: string;
        };
        Policy: {
            /** @enum {string} */
            name: "oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim";
            /**
             * @description `profile`: one of Longhand's own four. `preset`: the rules of an earlier system, for comparison and for sessions that rely on them
             * @enum {string}
             */
            kind: "profile" | "preset";
            /** @description What it is for, in one line */
            purpose: string;
            /** @description When it compacts, in one sentence */
            compacts: string;
            /** @description What stays verbatim, in one sentence */
            keeps: string;
            /** @description The page of the documentation that has its measured cost and what it keeps */
            figures: string;
            /** @description All its values */
            policy: {
                trigger: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio: number;
                };
                keep: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages: boolean;
                };
                results: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools: string[];
                };
                summary: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions: string | null;
                };
                tools: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model: string | null;
            };
        };
        Evaluation: {
            /** @description The id of a session */
            session_id: string;
            model: string;
            context_window: number | null;
            /**
             * @description relative: the prices are unknown, and a token of plain input costs 1
             * @enum {string}
             */
            unit: "usd" | "relative";
            /** @description The position where the evaluated part begins */
            from_position: number | null;
            messages: number;
            /** @description Messages before the evaluated part */
            messages_left_out: number;
            /** @description The whole history sent each time, however large the window would have to be */
            everything: {
                turns: number;
                /** @description Calls of turns that a model answered */
                calls: number;
                tokens: {
                    input: number;
                    cached: number;
                    output: number;
                };
                summary_tokens: {
                    input: number;
                    cached: number;
                    output: number;
                };
                /** @description A cost in the `unit` of the response */
                cost: {
                    amount: number;
                    /** @description The part of `amount` that summaries cost */
                    summaries: number;
                    /** @enum {string} */
                    source: "reported" | "estimated" | "mixed";
                    /** @description The largest error of `amount`, in either direction */
                    error_bound: number;
                };
                /** @description 0 to 1 */
                cached_share: number;
                peak_tokens: number;
            };
            /** @description What really happened, as providers reported it. Summaries are included, titles and comparisons are not */
            recorded: {
                turns: number;
                calls: number;
                failed_calls: number;
                tokens: {
                    input: number;
                    cached: number;
                    output: number;
                };
                summary_tokens: {
                    input: number;
                    cached: number;
                    output: number;
                };
                /** @description 0 to 1 */
                cached_share: number;
                /** @description US dollars of the calls whose cost is known */
                cost: {
                    usd: number;
                    summaries_usd: number;
                    unpriced_calls: number;
                };
                /** @description The number of summaries */
                compactions: number;
                /** @description The number of changes of the view, including those without a summary */
                epochs: number;
                /** @description The first changes, as many as a response may hold */
                changes: {
                    /** @enum {string} */
                    trigger: "threshold" | "rent" | "inline" | "guard" | "overflow" | "model_switch" | "manual" | "fallback" | "results";
                    /** @description The newest position when the change was made */
                    after_position: number;
                    turn: number;
                    /** @description Epoch milliseconds */
                    at: number;
                    /** @description The positions that left the view. Null if none left it, and items are only shown cleared or shortened */
                    range: {
                        from: number;
                        to: number;
                    } | null;
                    rungs: string[];
                    tokens_before: number;
                    tokens_after: number;
                    measured: {
                        before: {
                            /**
                             * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                             * @enum {string}
                             */
                            source: "reported" | "estimated" | "mixed";
                            /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                            error_bound: number;
                        };
                        after: {
                            /**
                             * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                             * @enum {string}
                             */
                            source: "reported" | "estimated" | "mixed";
                            /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                            error_bound: number;
                        };
                    } | null;
                    /** @description Tokens of the next request, as the plan expected them. Null for a recorded change, which does not say */
                    expected: number | null;
                }[];
                changes_truncated: boolean;
                /** @description Estimated tokens of the record, by how the view shows them at the end. reduced: cleared or shortened; withdrawn: neither shown nor covered, because a retry took them back or they are on another branch */
                record: {
                    verbatim: number;
                    reduced: number;
                    summarized: number;
                    dropped: number;
                    withdrawn: number;
                };
            };
            current: components["schemas"]["PolicyRun"];
            proposed: components["schemas"]["PolicyRun"];
            /** @description The cost of `proposed` divided by that of `current`. Null if the latter is 0 */
            ratio: number | null;
        };
        PolicyRun: {
            policy: ("oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim") | {
                /** @enum {string} */
                preset?: "oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim";
                trigger?: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at?: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio?: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio?: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound?: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor?: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens?: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio?: number;
                };
                keep?: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio?: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of?: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens?: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens?: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages?: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio?: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens?: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut?: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages?: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages?: boolean;
                };
                results?: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars?: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut?: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear?: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full?: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio?: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond?: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars?: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools?: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools?: string[];
                };
                summary?: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form?: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement?: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens?: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio?: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after?: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode?: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact?: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts?: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models?: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms?: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions?: string | null;
                };
                tools?: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds?: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall?: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models?: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure?: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window?: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator?: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio?: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model?: string | null;
            };
            effective_policy: {
                trigger: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio: number;
                };
                keep: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages: boolean;
                };
                results: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools: string[];
                };
                summary: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions: string | null;
                };
                tools: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model: string | null;
            };
            turns: number;
            /** @description Calls of turns that a model answered */
            calls: number;
            tokens: {
                input: number;
                cached: number;
                output: number;
            };
            summary_tokens: {
                input: number;
                cached: number;
                output: number;
            };
            /** @description A cost in the `unit` of the response */
            cost: {
                amount: number;
                /** @description The part of `amount` that summaries cost */
                summaries: number;
                /** @enum {string} */
                source: "reported" | "estimated" | "mixed";
                /** @description The largest error of `amount`, in either direction */
                error_bound: number;
            };
            /** @description 0 to 1 */
            cached_share: number;
            peak_tokens: number;
            /** @description The cost divided by the cost of sending the whole history each time. Null if the latter is 0 */
            relative_cost: number | null;
            /** @description Calls for which there would have been no room */
            would_not_fit: number;
            /** @description Requests that do not begin with the whole previous request of the same epoch */
            breaks: number;
            /** @description The mean share of the newest 8,000 tokens that a request shows verbatim */
            verbatim_8k: number;
            /** @description Identifiers that later messages came back to (needed), and those of them that the view no longer showed: only a summary or a look-up can supply these */
            identifiers: {
                needed: number;
                out_of_view: number;
                examples: {
                    position: number;
                    said_at: number;
                }[];
            };
            /** @description The number of summaries */
            compactions: number;
            /** @description The number of changes of the view, including those without a summary */
            epochs: number;
            /** @description The first changes, as many as a response may hold */
            changes: {
                /** @enum {string} */
                trigger: "threshold" | "rent" | "inline" | "guard" | "overflow" | "model_switch" | "manual" | "fallback" | "results";
                /** @description The newest position when the change was made */
                after_position: number;
                turn: number;
                /** @description Epoch milliseconds */
                at: number;
                /** @description The positions that left the view. Null if none left it, and items are only shown cleared or shortened */
                range: {
                    from: number;
                    to: number;
                } | null;
                rungs: string[];
                tokens_before: number;
                tokens_after: number;
                measured: {
                    before: {
                        /**
                         * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                         * @enum {string}
                         */
                        source: "reported" | "estimated" | "mixed";
                        /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                        error_bound: number;
                    };
                    after: {
                        /**
                         * @description reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it
                         * @enum {string}
                         */
                        source: "reported" | "estimated" | "mixed";
                        /** @description The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together */
                        error_bound: number;
                    };
                } | null;
                /** @description Tokens of the next request, as the plan expected them. Null for a recorded change, which does not say */
                expected: number | null;
            }[];
            changes_truncated: boolean;
            /** @description Estimated tokens of the record, by how the view shows them at the end. reduced: cleared or shortened; withdrawn: neither shown nor covered, because a retry took them back or they are on another branch */
            record: {
                verbatim: number;
                reduced: number;
                summarized: number;
                dropped: number;
                withdrawn: number;
            };
        };
        EvaluatePolicy: {
            /** @description The id of a session */
            session: string;
            /** @description The policy to evaluate. It is merged over the session's policy, as when the session is updated */
            policy: ("oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim") | {
                /** @enum {string} */
                preset?: "oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim";
                trigger?: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at?: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio?: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio?: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound?: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor?: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens?: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio?: number;
                };
                keep?: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio?: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of?: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens?: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens?: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages?: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio?: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens?: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut?: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages?: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages?: boolean;
                };
                results?: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars?: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut?: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear?: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full?: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio?: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond?: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars?: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools?: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools?: string[];
                };
                summary?: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form?: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement?: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens?: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio?: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after?: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode?: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact?: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts?: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models?: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms?: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions?: string | null;
                };
                tools?: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds?: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall?: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models?: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure?: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window?: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator?: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio?: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model?: string | null;
            };
            /** @description The model whose limits and prices apply to all calls. Default: the session's model */
            model?: string;
            /** @description The context window. Null if unknown. Default: the model's window */
            window?: number | null;
            /** @description US dollars per million tokens */
            prices?: {
                input: number;
                output: number;
                /** @description Price of input that is read from the provider's cache. Default: the price of input */
                cached?: number;
                /** @description Price of input that is written to the provider's cache. Default: the price of input */
                cache_write?: number;
            };
            /**
             * @description Evaluate only this many of the newest messages. Older ones are left out
             * @default 10000
             */
            last?: number;
        };
        Usage: {
            /** @description UTC. Like the other dimensions, null if the rows are not grouped by it */
            day: string | null;
            /** @description The id of a session */
            session_id: string | null;
            model: string | null;
            /** @enum {string|null} */
            purpose: "turn" | "compaction" | "title" | "comparison" | null;
            /** @enum {string|null} */
            source: "turn" | "context_compaction" | "title" | "comparison" | null;
            /** @description The API key that asked. Also null for calls without a known key */
            key_id: string | null;
            /** @description The session's end user at the time. Also null for calls without one */
            end_user: string | null;
            calls: number;
            /** @description Calls that ended by a failure, a stop or a crash */
            failed_calls: number;
            /** @description The sum of uncached, cached and cache_write */
            input: number;
            uncached: number;
            /** @description Read from the provider's cache */
            cached: number;
            /** @description Written to the provider's cache */
            cache_write: number;
            /** @description Reasoning included */
            output: number;
            reasoning: number;
            /** @description US dollars of the calls with a known cost. Null if no call has one */
            cost: number | null;
            /** @description Calls whose cost is unknown, because a price or a count is missing. `cost` leaves them out */
            unpriced_calls: number;
            cost_complete: boolean;
        };
        /** @description One model call of a session. A count is null if the provider did not report it */
        ModelCall: {
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @description The id of a turn */
            turn_id: string | null;
            /** @enum {string} */
            purpose: "turn" | "compaction" | "title" | "comparison";
            /** @enum {string} */
            source: "turn" | "context_compaction" | "title" | "comparison";
            model: string;
            /** @description The API key that asked. Null: none is known */
            key_id: string | null;
            /** @description The session's end user at the time. Null: it had none, or the name was forgotten */
            end_user: string | null;
            /** @description The sum of uncached, cached and cache_write */
            input: number | null;
            uncached: number | null;
            /** @description Read from the provider's cache */
            cached: number | null;
            /** @description Written to the provider's cache */
            cache_write: number | null;
            /** @description Reasoning included */
            output: number | null;
            reasoning: number | null;
            /** @description US dollars, by the prices at the time of the call. Null if unknown */
            cost: number | null;
            /** @description This service's own estimate of the request before it was sent, unscaled */
            estimate: number;
            /** @enum {string} */
            outcome: "stop" | "length" | "tool_calls" | "content_filter" | "other" | "overflow" | "output_cap" | "payload" | "rate_limit" | "quota" | "media" | "invalid_param" | "auth" | "not_found" | "region" | "refused" | "unavailable" | "timeout" | "aborted" | "cannot_fit" | "round_limit" | "no_progress" | "budget" | "suspended" | "storage_full" | "unknown_model" | "crashed" | "internal" | "stale";
            ms: number;
            /** @description Generation settings that were set and that this request left out, because the model cannot express them */
            left_out: string[];
        };
        Key: {
            /** @description The id of an API key */
            id: string;
            name: string;
            scopes: ("sessions:read" | "sessions:write" | "sessions:erase" | "files:read" | "files:write" | "models:write" | "credentials:write" | "tools:read" | "tools:write" | "settings:write" | "retention:write" | "usage:read" | "exports:write" | "webhooks:read" | "webhooks:write" | "keys:write" | "audit:read" | "channels:read" | "channels:write")[];
            restriction: components["schemas"]["KeyRestriction"];
            clients: components["schemas"]["ClientSettings"];
            /** @description Epoch milliseconds */
            created_at: number;
            /** @description Null if the key does not expire */
            expires_at: number | null;
            /** @description Epoch milliseconds */
            revoked_at: number | null;
            /** @description The key that created this one. Null for the deployment's admin */
            created_by: string | null;
            /** @description The key that revoked this one. Null for the deployment's admin, and while the key is not revoked */
            revoked_by: string | null;
            /** @description The key in whose place this one came. Null if it was created anew */
            rotated_from: string | null;
            /** @description The key that came in place of this one. Null while it is not rotated */
            rotated_to: string | null;
            /** @description The last use that is recorded: at most 90 seconds before the last one. Null if the key was never used */
            last_used_at: number | null;
        };
        /** @description Null: the key is held to nothing but its scopes */
        KeyRestriction: {
            /** @description The models that the key may use. Null: all */
            models: string[] | null;
            /** @description The end users whose sessions the key reaches. Null: all */
            end_users: string[] | null;
            /** @description The entries that the metadata of a session must have for the key to reach it. Null: none */
            metadata: {
                [key: string]: string;
            } | null;
        } | null;
        /** @description Null: all defaults */
        ClientSettings: {
            /**
             * @description `create`: a conversation has the session that the client names, by its `external_id`: in `X-Session-Id`, or as Claude Code and Codex do
             * @enum {string|null}
             */
            session_header: "create" | null;
            /**
             * @description `stop`: a client that leaves an answer stops its turn, as `X-On-Disconnect: stop` does
             * @enum {string|null}
             */
            on_disconnect: "stop" | null;
            /**
             * @description `take`: `system` and `tools` in the body of `/api/chat` are those of the turn
             * @enum {string|null}
             */
            chat_instructions: "take" | null;
        } | null;
        CreateKey: {
            name: string;
            /** @description Default: the scopes of the calling key. The admin's default is all scopes. With a restriction, those of them that it allows */
            scopes?: ("sessions:read" | "sessions:write" | "sessions:erase" | "files:read" | "files:write" | "models:write" | "credentials:write" | "tools:read" | "tools:write" | "settings:write" | "retention:write" | "usage:read" | "exports:write" | "webhooks:read" | "webhooks:write" | "keys:write" | "audit:read" | "channels:read" | "channels:write")[];
            restriction?: components["schemas"]["CreateKeyRestriction"];
            clients?: components["schemas"]["CreateClientSettings"];
            /** @description Epoch milliseconds */
            expires_at?: number | null;
        };
        /**
         * @description What the key is held to beside its scopes. It cannot be changed later: a rotation keeps it
         * @default null
         */
        CreateKeyRestriction: {
            /** @default null */
            models?: string[] | null;
            /** @default null */
            end_users?: string[] | null;
            /**
             * @description At most 16 entries; names of 64, values of 512 characters
             * @default null
             */
            metadata?: {
                [key: string]: string;
            } | null;
        } | null;
        /**
         * @description How the key's clients of other vendors' APIs are served. It cannot be changed later: a rotation keeps it
         * @default null
         */
        CreateClientSettings: {
            /**
             * @description `create`: a conversation has the session that the client names, by its `external_id`: in `X-Session-Id`, or as Claude Code and Codex do
             * @default null
             * @enum {string|null}
             */
            session_header?: "create" | null;
            /**
             * @description `stop`: a client that leaves an answer stops its turn, as `X-On-Disconnect: stop` does
             * @default null
             * @enum {string|null}
             */
            on_disconnect?: "stop" | null;
            /**
             * @description `take`: `system` and `tools` in the body of `/api/chat` are those of the turn
             * @default null
             * @enum {string|null}
             */
            chat_instructions?: "take" | null;
        } | null;
        RotateKey: {
            /**
             * @description How long the old key stays valid beside the new one. 0: it ends at once
             * @default 86400
             */
            overlap_seconds?: number;
        };
        AccessToken: {
            /** @description Names the token in the service's logs */
            id: string;
            /** @description The access token. It is not stored, so it is shown only here */
            token: string;
            /** @description The id of a session */
            session_id: string | null;
            end_user: string | null;
            scopes: ("sessions:read" | "sessions:write")[];
            /** @description Epoch milliseconds */
            expires_at: number;
        };
        CreateAccessToken: {
            /** @description The one session that the token opens */
            session_id?: string;
            /** @description The token opens the sessions of this end user */
            end_user?: string;
            /** @description Default: those of the calling key that a token can have */
            scopes?: ("sessions:read" | "sessions:write")[];
            /** @description Seconds. Default: 3600, or until the calling key expires if that is sooner */
            expires_in?: number;
        };
        Model: {
            id: string;
            /**
             * @description As OpenAI's API says it
             * @enum {string}
             */
            object: "model";
            /**
             * @description As Anthropic's API says it
             * @enum {string}
             */
            type: "model";
            /** @description The id */
            display_name: string;
            /** @description Always 0: unknown. OpenAI's clients expect epoch seconds */
            created: number;
            /** @description The provider, by the name that OpenAI's clients read */
            owned_by: string;
            /** @enum {string} */
            provider: "embedded" | "openai" | "openai-chat" | "openai-compatible" | "anthropic" | "google" | "workers-ai";
            /** @description The provider's name for the model */
            upstream_id: string;
            /** @description Null for the provider's own address, and for every model of the deployment, whose address is not shown */
            base_url: string | null;
            /** @description Tokens. Null if unknown */
            context_window: number | null;
            /** @description The most tokens of one reply */
            max_output: number;
            /** @description What a request may contain. Null if unknown: requests may then contain all of it */
            capabilities: {
                tools: boolean;
                images: boolean;
                files: boolean;
                /** @description A request can ask the model to think, or not to think */
                reasoning: boolean;
            } | null;
            /** @description Reported tokens divided by estimated tokens, until a session has learned its own ratio. Null counts as 1 */
            ratio: number | null;
            /** @description US dollars per million tokens. Null if unknown, which never counts as free */
            prices: {
                input: number;
                output: number;
                cached: number;
                cache_write: number;
            } | null;
            /** @description The name of the tenant's credential. Null for the deployment's key */
            credential: string | null;
            /**
             * @description Which side configured the model
             * @enum {string}
             */
            source: "deployment" | "tenant";
            /** @description The source of each figure: the tenant, the deployment, the presets of known model names, the package of prices, or unknown */
            sources: {
                /** @enum {string} */
                context_window: "tenant" | "deployment" | "preset" | "prices_package" | "unknown";
                /** @enum {string} */
                max_output: "tenant" | "deployment" | "preset" | "prices_package" | "unknown";
                /** @enum {string} */
                capabilities: "tenant" | "deployment" | "preset" | "prices_package" | "unknown";
                /** @enum {string} */
                ratio: "tenant" | "deployment" | "preset" | "prices_package" | "unknown";
                /** @enum {string} */
                prices: "tenant" | "deployment" | "preset" | "prices_package" | "unknown";
            };
            /** @description Reasons why calls fail or conversations are not compacted */
            warnings: string[];
            /**
             * @description The endpoint by name. Null: none was named
             * @enum {string|null}
             */
            endpoint: "openai" | "azure" | "openrouter" | "deepseek" | "moonshot" | "qwen" | "mistral" | "groq" | "xai" | "together" | "fireworks" | "cerebras" | "vercel" | "cloudflare" | "vllm" | "llama-cpp" | "ollama" | "lm-studio" | "litellm" | null;
            /** @description Where the model's endpoint is not asked as usual. To forget what was learned, put or probe the model */
            quirks: {
                /** @enum {string} */
                quirk: "system" | "alternate_roles" | "call_ids" | "return_reasoning" | "strip_think_tags" | "stream_options" | "output_limit" | "tool_choice" | "parallel_tool_calls" | "images" | "truncates_silently" | "max_request_bytes";
                value: string | boolean | number;
                /**
                 * @description Who says so: the model's entry, what is known of its name and address, or a refusal of its provider
                 * @enum {string}
                 */
                source: "tenant" | "deployment" | "preset" | "learned";
                /** @description When a lesson expires. Null for every other source */
                until: number | null;
            }[];
            /** @description Limits that the provider reported and that are not adopted. To adopt one, put the model with this limit */
            suggestions: {
                /** @enum {string} */
                figure: "context_window" | "max_output";
                tokens: number;
                /**
                 * @description provider_endpoint: the provider's list of models, after a client asked for it; provider_error: the number in the provider's refusal
                 * @enum {string}
                 */
                source: "provider_endpoint" | "provider_error";
                /** @description When the limit was last reported */
                at: number;
            }[];
        };
        PutModel: {
            /**
             * @description openai: the Responses API; openai-chat: OpenAI's chat completions; openai-compatible: chat completions at any other address. Default: the endpoint's. Required if no endpoint is named
             * @enum {string}
             */
            provider?: "embedded" | "openai" | "openai-chat" | "openai-compatible" | "anthropic" | "google" | "workers-ai";
            /**
             * @description A known endpoint by name. It names the provider, the base URL where the endpoint has a fixed one, and its quirks
             * @enum {string}
             */
            endpoint?: "openai" | "azure" | "openrouter" | "deepseek" | "moonshot" | "qwen" | "mistral" | "groq" | "xai" | "together" | "fireworks" | "cerebras" | "vercel" | "cloudflare" | "vllm" | "llama-cpp" | "ollama" | "lm-studio" | "litellm";
            /** @description The provider's name for the model. Default: the id */
            upstream_id?: string;
            /** @description The URL with its version, such as https://gateway.example/v1 (google: /v1beta). The paths of the API are added to it. Required for openai-compatible, not allowed for embedded and workers-ai. Default: the endpoint's, or the provider's own address */
            base_url?: string | null;
            /** @description Tokens. Null if unknown: conversations are then compacted only under a policy that assumes a window */
            context_window?: number | null;
            /** @description The most tokens of one reply. Required if the model's name is unknown to this service */
            max_output?: number;
            /** @description What a request may contain. Content that the model cannot read is described in words instead */
            capabilities?: {
                tools: boolean;
                images: boolean;
                files: boolean;
                /** @description A request can ask the model to think, or not to think */
                reasoning: boolean;
            };
            /** @description Reported tokens divided by estimated tokens, until a session has learned its own ratio. Default: 1 */
            ratio?: number;
            /** @description US dollars per million tokens */
            prices?: {
                input: number;
                output: number;
                /** @description Price of input that is read from the provider's cache. Default: the price of input */
                cached?: number;
                /** @description Price of input that is written to the provider's cache. Default: the price of input */
                cache_write?: number;
            };
            /** @description Where the endpoint differs from what is known of it. Default: what is known of the model's name and address */
            quirks?: {
                /**
                 * @description Where system messages may stand. first: one in front, and a later one is sent as a user's message that says so; merged: all in one message in front; developer: anywhere, in the role developer
                 * @enum {string}
                 */
                system?: "anywhere" | "first" | "merged" | "developer";
                /** @description A user's messages in a row, and replies in a row, are sent as one */
                alternate_roles?: boolean;
                /**
                 * @description The ids of tool calls: as they came, or nine letters and digits
                 * @enum {string}
                 */
                call_ids?: "as_is" | "nine_characters";
                /** @description The model's thinking goes back with the calls that it led to */
                return_reasoning?: boolean;
                /** @description A reply that begins with <think> is thinking up to </think> */
                strip_think_tags?: boolean;
                /** @description Usage is asked for with stream_options. Without it, an endpoint that reports none is estimated */
                stream_options?: boolean;
                /**
                 * @description The name of the reply's limit
                 * @enum {string}
                 */
                output_limit?: "max_tokens" | "max_completion_tokens";
                /** @description tool_choice is sent */
                tool_choice?: boolean;
                /** @description parallel_tool_calls is sent */
                parallel_tool_calls?: boolean;
                /**
                 * @description How images are sent: by address and inside the request, only by address, or only inside it
                 * @enum {string}
                 */
                images?: "any" | "url" | "data";
                /** @description The endpoint cuts what exceeds its window without saying so, so that nothing is tried that may not fit */
                truncates_silently?: boolean;
                /** @description The most bytes of a request */
                max_request_bytes?: number;
            };
            /** @description Name of the tenant's credential. Default: the deployment's key, which is sent to the provider's own address only */
            credential?: string;
        };
        ModelDeletion: {
            id: string;
            /** @enum {string} */
            object: "model";
            /** @enum {boolean} */
            deleted: true;
        };
        /** @description A credential without its secret, which is never shown */
        Credential: {
            name: string;
            /** @description The id of the deployment's master key that seals the credential */
            key_id: string;
            /** @description Epoch milliseconds */
            created_at: number;
            /** @description When the credential was last put. Resealing it does not count */
            updated_at: number;
            /** @description Ids of the tenant's models that use the credential */
            models: string[];
        };
        PutCredential: {
            /** @description Stored sealed and never shown again */
            api_key: string;
        };
        CredentialRotation: {
            /** @description The current master key. It now seals every credential except those counted by `changed` or listed in `unreadable` */
            key_id: string;
            total: number;
            /** @description Credentials that were under the current key before */
            current: number;
            resealed: number;
            /** @description Credentials that were put again during the rotation. If there are any, run it again */
            changed: number;
            /** @description Names of credentials that no known master key opens. The tenant must put them again */
            unreadable: string[];
        };
        Tool: {
            name: string;
            /** @description Epoch milliseconds */
            created_at: number;
            /** @description Epoch milliseconds */
            updated_at: number;
            /** @description The named credential does not exist, so the tool or server is not called */
            credential_missing: boolean;
            description: string | null;
            /** @description A JSON Schema of type object */
            parameters: {
                [key: string]: unknown;
            };
            url: string;
            /** @enum {string} */
            method: "POST" | "GET" | "PUT" | "PATCH" | "DELETE";
            secret_header: {
                name: string;
                credential: string;
                /** @description Text in front of the credential, such as `Bearer ` */
                prefix: string;
            } | null;
            timeout_ms: number;
            /** @description The most bytes of a response, after decoding */
            max_bytes: number;
            needs_approval: boolean;
            /** @description What the tool does to a file. If absent, it is guessed from the tool's name */
            files: {
                /** @enum {string} */
                op: "read" | "write" | "edit";
                /** @description The argument that names the file, or a list of files */
                path: string;
            } | null;
        };
        PutTool: {
            /**
             * @description The description that the model reads
             * @default null
             */
            description?: string | null;
            /** @description A JSON Schema of type object, of at most 32768 characters, without circles of references */
            parameters: {
                [key: string]: unknown;
            };
            /** @description An https URL with a public address, without credentials and fragment */
            url: string;
            /**
             * @description GET and DELETE send the arguments in the query, the others as JSON
             * @default POST
             * @enum {string}
             */
            method?: "POST" | "GET" | "PUT" | "PATCH" | "DELETE";
            /**
             * @description A header with one of the tenant's credentials. It is sent only to the origin of the URL
             * @default null
             */
            secret_header?: {
                name: string;
                credential: string;
                /**
                 * @description Text in front of the credential
                 * @default
                 */
                prefix?: string;
            } | null;
            /**
             * @description Milliseconds for a call, including redirects and reading the response
             * @default 30000
             */
            timeout_ms?: number;
            /**
             * @description The most bytes of a response. A larger response fails the call as too_large
             * @default 1000000
             */
            max_bytes?: number;
            /**
             * @description A person approves each call before it runs
             * @default false
             */
            needs_approval?: boolean;
            /**
             * @description What the tool does to a file. If absent, it is guessed from the tool's name
             * @default null
             */
            files?: {
                /** @enum {string} */
                op: "read" | "write" | "edit";
                /** @description The argument that names the file, or a list of files */
                path: string;
            } | null;
        };
        McpServer: {
            name: string;
            /** @description Epoch milliseconds */
            created_at: number;
            /** @description Epoch milliseconds */
            updated_at: number;
            /** @description The named credential does not exist, so the tool or server is not called */
            credential_missing: boolean;
            url: string;
            secret_header: {
                name: string;
                credential: string;
                /** @description Text in front of the credential, such as `Bearer ` */
                prefix: string;
            } | null;
            timeout_ms: number;
            /** @description Applies to all tools of the server */
            needs_approval: boolean;
            /** @description Names that the server gives to its tools. Null: all of its tools */
            allowed_tools: string[] | null;
            /** @description When the server last listed its tools */
            listed_at: number;
            /** @description The tools of the newest list, by the server's own names */
            tools: string[];
            /** @description Tools that cannot be offered to a model: the name or schema is too large, the schema refers to itself, or the text is not valid Unicode */
            skipped: string[];
            /** @description The server has more tools than are stored. Name the tools you want in allowed_tools */
            truncated: boolean;
        };
        PutMcpServer: {
            /** @description An https URL with a public address, without credentials and fragment */
            url: string;
            /**
             * @description A header with one of the tenant's credentials. It is sent only to the origin of the URL
             * @default null
             */
            secret_header?: {
                name: string;
                credential: string;
                /**
                 * @description Text in front of the credential
                 * @default
                 */
                prefix?: string;
            } | null;
            /**
             * @description Milliseconds for a call, including redirects and reading the response
             * @default 30000
             */
            timeout_ms?: number;
            /**
             * @description A person approves each call before it runs
             * @default false
             */
            needs_approval?: boolean;
            /**
             * @description The server's own tool names. Null: all of its tools
             * @default null
             */
            allowed_tools?: string[] | null;
        };
        Channel: {
            name: string;
            /** @enum {string} */
            type: "telegram" | "slack" | "discord" | "whatsapp" | "generic";
            /**
             * @description What has one session: `chat`, each private chat or group; `thread`, each thread of a chat; `user`, each person, in all chats of the channel
             * @enum {string}
             */
            session_per: "user" | "thread" | "chat";
            /** @description The model of new sessions. Null: the tenant's default */
            model: string | null;
            /** @description The policy of new sessions. Null: the tenant's */
            policy: ("oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim") | {
                /** @enum {string} */
                preset?: "oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim";
                trigger?: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at?: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio?: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio?: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound?: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor?: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens?: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio?: number;
                };
                keep?: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio?: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of?: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens?: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens?: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages?: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio?: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens?: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut?: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages?: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages?: boolean;
                };
                results?: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars?: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut?: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear?: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full?: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio?: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond?: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars?: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools?: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools?: string[];
                };
                summary?: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form?: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement?: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens?: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio?: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after?: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode?: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact?: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts?: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models?: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms?: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions?: string | null;
                };
                tools?: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds?: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall?: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models?: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure?: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window?: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator?: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio?: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model?: string | null;
            } | null;
            /** @description The system prompt of new sessions */
            system: string | null;
            /** @description Names of registered tools, for new sessions. Null: none */
            tools: string[] | null;
            /** @description The commands that the bot knows */
            commands: ("start" | "reset" | "compact" | "context" | "undo" | "forget" | "help")[];
            /** @description Who may talk to the bot: everyone; the listed users of the platform; or those and people who send a pairing code, which the tenant makes and passes on */
            access: {
                /** @enum {string} */
                mode: "open";
            } | {
                /** @enum {string} */
                mode: "allow_list";
                users: string[];
            } | {
                /** @enum {string} */
                mode: "pairing";
                /** @default [] */
                users?: string[];
            };
            /**
             * @description Which messages of groups the bot answers: those that address it, all, or none. The others are not recorded
             * @enum {string}
             */
            groups: "addressed" | "all" | "none";
            /** @description The reply appears while it is written, where the platform lets a bot edit its messages */
            streaming: boolean;
            /** @description BCP 47, for the bot's own words. Null: the user's language */
            language: string | null;
            /** @description Names of the secrets that are stored. Their values are never shown. Empty: the channel was restored without them, and is not served until they are put */
            credentials: string[];
            /** @description Where the platform sends its webhooks, on this deployment's address */
            webhook_path: string;
            /** @description Epoch milliseconds */
            created_at: number;
            /** @description Epoch milliseconds */
            updated_at: number;
        };
        PutChannel: {
            /** @enum {string} */
            type: "telegram" | "slack" | "discord" | "whatsapp" | "generic";
            /** @description The secrets of the platform, by the names that the page of the type has. Stored sealed and never shown again. Absent: the stored ones stay; another type needs new ones */
            credentials?: {
                [key: string]: unknown;
            };
            /**
             * @description What has one session: `chat`, each private chat or group; `thread`, each thread of a chat; `user`, each person, in all chats of the channel
             * @default chat
             * @enum {string}
             */
            session_per?: "user" | "thread" | "chat";
            /** @default null */
            model?: string | null;
            /**
             * @description The policy of new sessions. Null: the tenant's
             * @default null
             */
            policy?: ("oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim") | {
                /** @enum {string} */
                preset?: "oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim";
                trigger?: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at?: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio?: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio?: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound?: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor?: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens?: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio?: number;
                };
                keep?: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio?: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of?: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens?: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens?: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages?: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio?: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens?: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut?: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages?: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages?: boolean;
                };
                results?: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars?: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut?: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear?: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full?: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio?: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond?: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars?: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools?: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools?: string[];
                };
                summary?: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form?: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement?: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens?: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio?: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after?: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode?: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact?: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts?: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models?: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms?: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions?: string | null;
                };
                tools?: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds?: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall?: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models?: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure?: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window?: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator?: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio?: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model?: string | null;
            } | null;
            /** @default null */
            system?: string | null;
            /**
             * @description Names of registered HTTP tools, and of MCP servers, which offer all of their tools. Null: none
             * @default null
             */
            tools?: string[] | null;
            /**
             * @default [
             *       "start",
             *       "reset",
             *       "compact",
             *       "context",
             *       "undo",
             *       "forget",
             *       "help"
             *     ]
             */
            commands?: ("start" | "reset" | "compact" | "context" | "undo" | "forget" | "help")[];
            /**
             * @description Who may talk to the bot: everyone; the listed users of the platform; or those and people who send a pairing code, which the tenant makes and passes on
             * @default {
             *       "mode": "open"
             *     }
             */
            access?: {
                /** @enum {string} */
                mode: "open";
            } | {
                /** @enum {string} */
                mode: "allow_list";
                users: string[];
            } | {
                /** @enum {string} */
                mode: "pairing";
                /** @default [] */
                users?: string[];
            };
            /**
             * @description Which messages of groups the bot answers: those that address it, all, or none. The others are not recorded
             * @default addressed
             * @enum {string}
             */
            groups?: "addressed" | "all" | "none";
            /**
             * @description The reply appears while it is written, where the platform lets a bot edit its messages
             * @default true
             */
            streaming?: boolean;
            /** @default null */
            language?: string | null;
        };
        PairingCode: {
            /** @description Shown this once. The first person who sends it to the bot may talk to it */
            code: string;
            /** @description Epoch milliseconds */
            expires_at: number;
        };
        PairedUser: {
            /** @description The platform's id of the person */
            user_id: string;
            /** @description Epoch milliseconds */
            paired_at: number;
        };
        ChannelLogEntry: {
            id: string;
            /** @description Of the last occurrence, if there were several */
            at: number;
            /** @enum {string} */
            kind: "reply_failed" | "attachment_failed" | "delivery_ignored" | "delivery_malformed" | "signature_refused";
            /** @description A few words. It never quotes a message */
            reason: string;
            /** @description 1, except for what is counted by the hour: refused signatures, and deliveries that were ignored or malformed */
            count: number;
            /** @description The platform's id of the delivery */
            delivery: string | null;
            /** @description The id of a session */
            session_id: string | null;
            /** @description The id of a turn */
            turn_id: string | null;
        };
        /** @description A stored image or document. Its content never changes */
        File: {
            /** @description The id of a file */
            id: string;
            name: string | null;
            /** @description Found by the file's first bytes */
            media_type: string;
            bytes: number;
            /** @description Of the content, hexadecimal */
            sha256: string;
            /** @description Epoch milliseconds */
            created_at: number;
            /** @description The number of sessions whose messages refer to the file */
            sessions: number;
            /** @description When the file ends if no message refers to it by then. Null while a session refers to it */
            expires_at: number | null;
        };
        FileUrl: {
            /**
             * Format: uri
             * @description Reads the content without a key. It works for every holder
             */
            url: string;
            /** @description Epoch milliseconds */
            expires_at: number;
        };
        /** @description The file cannot be read any more. A message that refers to it keeps its place and names it */
        FileErasure: {
            /** @description The id of a file */
            id: string;
            /**
             * @description pending: the content is out of reach and is erased later, without another request
             * @enum {string}
             */
            status: "erased" | "pending";
        };
        Erasure: {
            /** @description The id of an erasure */
            id: string;
            /** @enum {string} */
            of: "session" | "end_user" | "tenant";
            /** @description The id of the session or the tenant. For an end user: SHA-256, hexadecimal, of the tenant's id, a slash and the client's id of the person, which itself is erased */
            target: string;
            /** @description The forks of the session, and forks of these, are erased too */
            forks: boolean;
            /**
             * @description retention: a rule of the tenant's came to apply
             * @enum {string}
             */
            cause: "request" | "retention";
            /** @enum {string} */
            status: "running" | "done";
            /** @description Epoch milliseconds */
            requested_at: number;
            /** @description It is done by then, unless a store was out of reach in the last hour before */
            due_at: number;
            /** @description Epoch milliseconds */
            done_at: number | null;
            /** @description The total grows while sessions are still being found */
            sessions: {
                total: number;
                done: number;
            };
            stores: {
                /** @enum {string} */
                store: "session_log" | "bodies" | "look_up_index" | "live_stream" | "idempotency" | "jobs" | "read_model" | "session_search" | "files" | "exports" | "chat" | "directory" | "tenant" | "usage_names" | "usage" | "forks";
                /**
                 * @description kept: it stays on purpose, as `note` says
                 * @enum {string}
                 */
                status: "erased" | "pending" | "kept";
                /** @description The number of sessions whose part is still to be erased */
                pending: number;
                note: string | null;
            }[];
            /** @description Copies out of this service's reach: those of the platform, for its operator alone, and those of providers */
            may_remain: {
                /** @enum {string} */
                where: "objects_point_in_time_recovery" | "database_point_in_time_recovery" | "provider";
                /** @description Null: not known here */
                until: number | null;
                /** @description The models that were called. Empty except for providers */
                models: string[];
                note: string;
            }[];
        };
        EndUserSummary: {
            /** @description The client's id of the person */
            end_user: string;
            /** @description Sessions that have this end user now */
            sessions: number;
            /** @description When one of these sessions last changed. Null if there is none */
            last_used_at: number | null;
        };
        EndUser: {
            /** @description The client's id of the person */
            end_user: string;
            /** @description Sessions that have this end user now */
            sessions: number;
            /** @description When one of these sessions last changed. Null if there is none */
            last_used_at: number | null;
            /** @description The calls of this month, in UTC, whose session had this end user at the time */
            usage: {
                /** @description Epoch milliseconds */
                from: number;
                /** @description Epoch milliseconds */
                to: number;
                calls: number;
                /** @description Calls that ended by a failure, a stop or a crash */
                failed_calls: number;
                /** @description The sum of uncached, cached and cache_write */
                input: number;
                uncached: number;
                /** @description Read from the provider's cache */
                cached: number;
                /** @description Written to the provider's cache */
                cache_write: number;
                /** @description Reasoning included */
                output: number;
                reasoning: number;
                /** @description US dollars of the calls with a known cost. Null if no call has one */
                cost: number | null;
                /** @description Calls whose cost is unknown, because a price or a count is missing. `cost` leaves them out */
                unpriced_calls: number;
                cost_complete: boolean;
            };
            /** @description The limits of each end user that apply to this one. Empty: none */
            limits: components["schemas"]["LimitUse"][];
            /** @description Paths of the end user's sessions, and of the usage by day */
            links: {
                sessions: string;
                usage: string;
            };
        };
        LimitUse: {
            /**
             * @description Whom the limit counts for
             * @enum {string}
             */
            of: "tenant" | "key" | "end_user";
            /** @description As a set of limits names it */
            limit: string;
            /** @description 0 allows nothing */
            max: number;
            /** @description Of the present minute: what was granted, in blocks. Of turns and streams: the slots that are leased. Null: each session counts it */
            used: number | null;
            /** @description When the minute ends. Null: what is used is used until it is removed */
            resets_at: number | null;
        };
        Retention: {
            /** @description Archive a session that was not used for so many days. It keeps everything, and its age for the other rules. Null: never */
            archive_sessions_after_days: number | null;
            /** @description Erase a session that was not used for so many days. Null: never */
            erase_sessions_after_days: number | null;
            /** @description Remove the content of a tool result so many days after it was recorded. Summaries that were made from it stay. Null: never */
            remove_tool_results_after_days: number | null;
            /** @description Remove usage so many months after the end of its month (UTC). It leaves the sums; an existing session goes on to show its own calls. Null: never */
            remove_usage_after_months: number | null;
            /** @description What differs for sessions whose policy is this preset, or builds on it. A rule that is not named is the tenant's; null: never */
            by_policy: {
                oneclaw?: {
                    /** @description Archive a session that was not used for so many days. It keeps everything, and its age for the other rules. Null: never */
                    archive_sessions_after_days?: number | null;
                    /** @description Erase a session that was not used for so many days. Null: never */
                    erase_sessions_after_days?: number | null;
                    /** @description Remove the content of a tool result so many days after it was recorded. Summaries that were made from it stay. Null: never */
                    remove_tool_results_after_days?: number | null;
                };
                opal?: {
                    /** @description Archive a session that was not used for so many days. It keeps everything, and its age for the other rules. Null: never */
                    archive_sessions_after_days?: number | null;
                    /** @description Erase a session that was not used for so many days. Null: never */
                    erase_sessions_after_days?: number | null;
                    /** @description Remove the content of a tool result so many days after it was recorded. Summaries that were made from it stay. Null: never */
                    remove_tool_results_after_days?: number | null;
                };
                odincode?: {
                    /** @description Archive a session that was not used for so many days. It keeps everything, and its age for the other rules. Null: never */
                    archive_sessions_after_days?: number | null;
                    /** @description Erase a session that was not used for so many days. Null: never */
                    erase_sessions_after_days?: number | null;
                    /** @description Remove the content of a tool result so many days after it was recorded. Summaries that were made from it stay. Null: never */
                    remove_tool_results_after_days?: number | null;
                };
                yeoman?: {
                    /** @description Archive a session that was not used for so many days. It keeps everything, and its age for the other rules. Null: never */
                    archive_sessions_after_days?: number | null;
                    /** @description Erase a session that was not used for so many days. Null: never */
                    erase_sessions_after_days?: number | null;
                    /** @description Remove the content of a tool result so many days after it was recorded. Summaries that were made from it stay. Null: never */
                    remove_tool_results_after_days?: number | null;
                };
                balanced?: {
                    /** @description Archive a session that was not used for so many days. It keeps everything, and its age for the other rules. Null: never */
                    archive_sessions_after_days?: number | null;
                    /** @description Erase a session that was not used for so many days. Null: never */
                    erase_sessions_after_days?: number | null;
                    /** @description Remove the content of a tool result so many days after it was recorded. Summaries that were made from it stay. Null: never */
                    remove_tool_results_after_days?: number | null;
                };
                economy?: {
                    /** @description Archive a session that was not used for so many days. It keeps everything, and its age for the other rules. Null: never */
                    archive_sessions_after_days?: number | null;
                    /** @description Erase a session that was not used for so many days. Null: never */
                    erase_sessions_after_days?: number | null;
                    /** @description Remove the content of a tool result so many days after it was recorded. Summaries that were made from it stay. Null: never */
                    remove_tool_results_after_days?: number | null;
                };
                retain?: {
                    /** @description Archive a session that was not used for so many days. It keeps everything, and its age for the other rules. Null: never */
                    archive_sessions_after_days?: number | null;
                    /** @description Erase a session that was not used for so many days. Null: never */
                    erase_sessions_after_days?: number | null;
                    /** @description Remove the content of a tool result so many days after it was recorded. Summaries that were made from it stay. Null: never */
                    remove_tool_results_after_days?: number | null;
                };
                verbatim?: {
                    /** @description Archive a session that was not used for so many days. It keeps everything, and its age for the other rules. Null: never */
                    archive_sessions_after_days?: number | null;
                    /** @description Erase a session that was not used for so many days. Null: never */
                    erase_sessions_after_days?: number | null;
                    /** @description Remove the content of a tool result so many days after it was recorded. Summaries that were made from it stay. Null: never */
                    remove_tool_results_after_days?: number | null;
                };
            };
            /** @description Nothing is removed before: a day after the last change. Null: there is no rule */
            starts_at: number | null;
        };
        RetentionInput: {
            /** @description Archive a session that was not used for so many days. It keeps everything, and its age for the other rules. Null: never */
            archive_sessions_after_days?: number | null;
            /** @description Erase a session that was not used for so many days. Null: never */
            erase_sessions_after_days?: number | null;
            /** @description Remove the content of a tool result so many days after it was recorded. Summaries that were made from it stay. Null: never */
            remove_tool_results_after_days?: number | null;
            /** @description Remove usage so many months after the end of its month (UTC). It leaves the sums; an existing session goes on to show its own calls. Null: never */
            remove_usage_after_months?: number | null;
            /** @description What differs for sessions whose policy is this preset, or builds on it. A rule that is not named is the tenant's; null: never */
            by_policy?: {
                oneclaw?: {
                    /** @description Archive a session that was not used for so many days. It keeps everything, and its age for the other rules. Null: never */
                    archive_sessions_after_days?: number | null;
                    /** @description Erase a session that was not used for so many days. Null: never */
                    erase_sessions_after_days?: number | null;
                    /** @description Remove the content of a tool result so many days after it was recorded. Summaries that were made from it stay. Null: never */
                    remove_tool_results_after_days?: number | null;
                };
                opal?: {
                    /** @description Archive a session that was not used for so many days. It keeps everything, and its age for the other rules. Null: never */
                    archive_sessions_after_days?: number | null;
                    /** @description Erase a session that was not used for so many days. Null: never */
                    erase_sessions_after_days?: number | null;
                    /** @description Remove the content of a tool result so many days after it was recorded. Summaries that were made from it stay. Null: never */
                    remove_tool_results_after_days?: number | null;
                };
                odincode?: {
                    /** @description Archive a session that was not used for so many days. It keeps everything, and its age for the other rules. Null: never */
                    archive_sessions_after_days?: number | null;
                    /** @description Erase a session that was not used for so many days. Null: never */
                    erase_sessions_after_days?: number | null;
                    /** @description Remove the content of a tool result so many days after it was recorded. Summaries that were made from it stay. Null: never */
                    remove_tool_results_after_days?: number | null;
                };
                yeoman?: {
                    /** @description Archive a session that was not used for so many days. It keeps everything, and its age for the other rules. Null: never */
                    archive_sessions_after_days?: number | null;
                    /** @description Erase a session that was not used for so many days. Null: never */
                    erase_sessions_after_days?: number | null;
                    /** @description Remove the content of a tool result so many days after it was recorded. Summaries that were made from it stay. Null: never */
                    remove_tool_results_after_days?: number | null;
                };
                balanced?: {
                    /** @description Archive a session that was not used for so many days. It keeps everything, and its age for the other rules. Null: never */
                    archive_sessions_after_days?: number | null;
                    /** @description Erase a session that was not used for so many days. Null: never */
                    erase_sessions_after_days?: number | null;
                    /** @description Remove the content of a tool result so many days after it was recorded. Summaries that were made from it stay. Null: never */
                    remove_tool_results_after_days?: number | null;
                };
                economy?: {
                    /** @description Archive a session that was not used for so many days. It keeps everything, and its age for the other rules. Null: never */
                    archive_sessions_after_days?: number | null;
                    /** @description Erase a session that was not used for so many days. Null: never */
                    erase_sessions_after_days?: number | null;
                    /** @description Remove the content of a tool result so many days after it was recorded. Summaries that were made from it stay. Null: never */
                    remove_tool_results_after_days?: number | null;
                };
                retain?: {
                    /** @description Archive a session that was not used for so many days. It keeps everything, and its age for the other rules. Null: never */
                    archive_sessions_after_days?: number | null;
                    /** @description Erase a session that was not used for so many days. Null: never */
                    erase_sessions_after_days?: number | null;
                    /** @description Remove the content of a tool result so many days after it was recorded. Summaries that were made from it stay. Null: never */
                    remove_tool_results_after_days?: number | null;
                };
                verbatim?: {
                    /** @description Archive a session that was not used for so many days. It keeps everything, and its age for the other rules. Null: never */
                    archive_sessions_after_days?: number | null;
                    /** @description Erase a session that was not used for so many days. Null: never */
                    erase_sessions_after_days?: number | null;
                    /** @description Remove the content of a tool result so many days after it was recorded. Summaries that were made from it stay. Null: never */
                    remove_tool_results_after_days?: number | null;
                };
            };
        };
        RetentionPreview: {
            data: components["schemas"]["RetentionAct"][];
            has_more: boolean;
            next_cursor: string | null;
            usage: components["schemas"]["UsageRemoval"];
            /** @description The time for which this holds, if no session is used meanwhile */
            at: number;
            /** @description How many sessions of the tenant are old enough to be looked at. Those that were used since stay */
            candidates: number;
            /** @description How many of them this page has looked at */
            looked_at: number;
        };
        RetentionAct: {
            /** @description The id of a session */
            session_id: string;
            /** @enum {string} */
            action: "erase_session" | "archive_session" | "remove_tool_results";
            /** @description When the session last changed */
            used_at: number;
            /** @description When the rule came to apply; for results, to the oldest one */
            due_at: number;
            /** @description How many tool results. Absent for other actions */
            results?: number;
        };
        /** @description The usage that would go. Null: none is due, or this is a later page */
        UsageRemoval: {
            /** @description Usage would be complete from this month on */
            complete_from: number;
            /** @description The months (UTC) whose rows would go: one for each call, and of erased sessions one for each sum */
            months: {
                month: string;
                rows: number;
            }[];
        } | null;
        Export: {
            /** @description The id of an export */
            id: string;
            /** @enum {string} */
            of: "session" | "end_user" | "tenant";
            /** @description Of an export of one session */
            session_id: string | null;
            /** @description Of an export of one end user's sessions */
            end_user: string | null;
            /** @description The settings that are in it: those that the key which asked for the export may read. Only an export of the tenant has some */
            settings: ("credential" | "model" | "tool" | "mcp_server" | "tenant" | "retention" | "key" | "channel" | "webhook_endpoint")[];
            /**
             * @description failed: the store could not be written, or a session changed too often
             * @enum {string}
             */
            status: "running" | "ready" | "failed";
            sessions_done: number;
            /** @description The sessions to look at, as counted when the export began */
            sessions_total: number;
            /** @description The bytes that are written */
            bytes: number;
            /** @description Epoch milliseconds */
            created_at: number;
            /** @description Epoch milliseconds */
            finished_at: number | null;
            /** @description When the export is removed */
            expires_at: number;
            /**
             * Format: uri
             * @description Reads the file without a key, for an hour. Null unless the export is ready, and the calling key may read its settings
             */
            download_url: string | null;
        };
        /** @description The export cannot be read any more */
        ExportRemoval: {
            /** @description The id of an export */
            id: string;
            /**
             * @description pending: the file is removed later
             * @enum {string}
             */
            status: "removed" | "pending";
        };
        ImportReport: {
            settings: components["schemas"]["ImportedSetting"][];
            sessions: components["schemas"]["ImportedSession"][];
            /** @description The file has more sessions than one request restores: send it again with `after` */
            has_more: boolean;
            /** @description The id of a session */
            next_cursor: string | null;
        };
        ImportedSetting: {
            /** @description Where the file has it: the number of its first line, from 1 */
            line: number;
            /** @enum {string} */
            kind: "credential" | "model" | "tool" | "mcp_server" | "tenant" | "retention" | "key" | "channel" | "webhook_endpoint";
            name: string;
            /**
             * @description created, replaced: it is as in the file. exists: it was already. differs: the tenant has another one, which is left as it is. needs_credential: store the credential, or rotate the secret; what needs it is there. needs_key: make a new key. forbidden: the calling key has not the scope
             * @enum {string}
             */
            status: "created" | "replaced" | "exists" | "differs" | "needs_credential" | "needs_key" | "forbidden" | "refused";
            /** @description What is to be done, or why nothing was */
            detail: string | null;
        };
        ImportedSession: {
            /** @description Where the file has it: the number of its first line, from 1 */
            line: number;
            /** @description The id of a session */
            id: string;
            /**
             * @description Only `restored` changed anything. exists: the tenant has a session of this id, and nothing is merged
             * @enum {string}
             */
            status: "restored" | "exists" | "erased" | "external_id_taken" | "file_taken" | "refused";
            /** @description Why the session was not restored */
            detail: string | null;
        };
        Import: {
            /** @description The id of an import */
            id: string;
            /** @description The id of an export */
            export_id: string;
            /** @enum {string} */
            settings: "keep" | "replace" | "skip";
            /**
             * @description failed: `error` says why. What is restored stays
             * @enum {string}
             */
            status: "running" | "done" | "failed";
            /** @description How far the file is restored, to the last session that is whole */
            bytes_read: number;
            bytes_total: number;
            /** @description The sessions of the file that were taken, restored or not */
            sessions_done: number;
            sessions_restored: number;
            /** @description As the export counted them. Null for one of an end user, which does not */
            sessions_total: number | null;
            /** @description `line`: where the file is at fault */
            error: {
                line: number | null;
                detail: string;
            } | null;
            /** @description Epoch milliseconds */
            created_at: number;
            /** @description Epoch milliseconds */
            finished_at: number | null;
            /** @description When this report is removed */
            expires_at: number;
        };
        ImportEntry: {
            /** @description Where the file has it: the number of its first line, from 1 */
            line: number;
            /** @enum {string} */
            kind: "session" | "credential" | "model" | "tool" | "mcp_server" | "tenant" | "retention" | "key" | "channel" | "webhook_endpoint";
            /** @description The session's id, or the setting's name */
            name: string;
            /** @enum {string} */
            status: "restored" | "exists" | "erased" | "external_id_taken" | "file_taken" | "refused" | "created" | "replaced" | "differs" | "needs_credential" | "needs_key" | "forbidden";
            detail: string | null;
        };
        ImportDeletion: {
            /** @description The id of an import */
            id: string;
            /** @enum {boolean} */
            deleted: true;
        };
        WebhookEndpoint: {
            /** @description The id of a webhook endpoint */
            id: string;
            url: string;
            /** @description The types that it is sent. Null: all, also those of later versions */
            events: ("session.created" | "turn.completed" | "turn.failed" | "turn.stopped" | "turn.interrupted" | "turn.awaiting_tools" | "turn.awaiting_approval" | "compaction.completed" | "compaction.failed" | "compaction.drafted" | "history.trimmed" | "schedule.skipped" | "budget.threshold" | "budget.reached" | "session.erased" | "erasure.completed" | "export.completed" | "export.failed" | "import.completed" | "import.failed" | "webhook_endpoint.disabled")[] | null;
            description: string | null;
            metadata: {
                [key: string]: string;
            };
            /** @enum {string} */
            status: "enabled" | "disabled";
            /**
             * @description `requested`: by a change. `gone`: it answered 410. `failing`: it answered nothing but failures for five days. `backlog`: too many events wait for it while it fails, or while room is short
             * @enum {string|null}
             */
            disabled_reason: "requested" | "gone" | "failing" | "backlog" | null;
            /** @description Epoch milliseconds */
            disabled_at: number | null;
            /** @description The first failure since it last answered 2xx. Null: its last answer was 2xx */
            failing_since: number | null;
            /** @description Until then the secret before the present one signs, too. Null: it alone signs */
            previous_secret_until: number | null;
            /** @description Epoch milliseconds */
            created_at: number;
            /** @description Epoch milliseconds */
            updated_at: number;
        };
        CreateWebhookEndpoint: {
            /** @description An https URL with a public address, without credentials and fragment */
            url: string;
            /**
             * @description The types to send. Null: all, also those of later versions
             * @default null
             */
            events?: ("session.created" | "turn.completed" | "turn.failed" | "turn.stopped" | "turn.interrupted" | "turn.awaiting_tools" | "turn.awaiting_approval" | "compaction.completed" | "compaction.failed" | "compaction.drafted" | "history.trimmed" | "schedule.skipped" | "budget.threshold" | "budget.reached" | "session.erased" | "erasure.completed" | "export.completed" | "export.failed" | "import.completed" | "import.failed" | "webhook_endpoint.disabled")[] | null;
            /** @default null */
            description?: string | null;
            /**
             * @description At most 16 entries; names of 64, values of 512 characters
             * @default {}
             */
            metadata?: {
                [key: string]: string;
            };
        };
        PatchWebhookEndpoint: {
            /** @description An https URL with a public address, without credentials and fragment */
            url?: string;
            /** @description Replaces the list. Null: all types */
            events?: ("session.created" | "turn.completed" | "turn.failed" | "turn.stopped" | "turn.interrupted" | "turn.awaiting_tools" | "turn.awaiting_approval" | "compaction.completed" | "compaction.failed" | "compaction.drafted" | "history.trimmed" | "schedule.skipped" | "budget.threshold" | "budget.reached" | "session.erased" | "erasure.completed" | "export.completed" | "export.failed" | "import.completed" | "import.failed" | "webhook_endpoint.disabled")[] | null;
            description?: string | null;
            /** @description Replaces the whole */
            metadata?: {
                [key: string]: string;
            };
            /** @description true: it is sent what happens from now on. false: what waits for it ends as failed */
            enabled?: boolean;
        };
        RotateWebhookSecret: {
            /**
             * @description How long the secrets before sign, too. 0: they end at once
             * @default 86400
             */
            overlap_seconds?: number;
        };
        WebhookDelivery: {
            /** @description The id of a delivery to a webhook endpoint */
            id: string;
            /** @description The id of a webhook endpoint */
            endpoint_id: string;
            /** @description The header `webhook-id`, and `id` in the body. The same at each try and for each endpoint */
            event_id: string;
            /** @enum {string} */
            type: "session.created" | "turn.completed" | "turn.failed" | "turn.stopped" | "turn.interrupted" | "turn.awaiting_tools" | "turn.awaiting_approval" | "compaction.completed" | "compaction.failed" | "compaction.drafted" | "history.trimmed" | "schedule.skipped" | "budget.threshold" | "budget.reached" | "session.erased" | "erasure.completed" | "export.completed" | "export.failed" | "import.completed" | "import.failed" | "webhook_endpoint.disabled" | "webhook.test";
            /** @description The id of a session */
            session_id: string | null;
            /**
             * @description `pending`: it is tried, or tried again. `failed`: it is not tried any more
             * @enum {string}
             */
            state: "pending" | "delivered" | "failed";
            /** @description How often it was tried */
            attempts: number;
            /** @description Epoch milliseconds */
            next_attempt_at: number | null;
            last_status: number | null;
            /** @enum {string|null} */
            last_failure: "status" | "timeout" | "unreachable" | "refused_address" | "secret_unavailable" | "endpoint_disabled" | null;
            /** @description Epoch milliseconds */
            created_at: number;
            /** @description Epoch milliseconds */
            finished_at: number | null;
        };
        WebhookDeliveryDetail: components["schemas"]["WebhookDelivery"] & {
            /** @description The body as it is sent, byte for byte */
            body: string;
            /** @description The last ten tries, the oldest first */
            log: components["schemas"]["WebhookAttempt"][];
        };
        WebhookAttempt: {
            /** @description Epoch milliseconds */
            at: number;
            /** @description How long it took */
            ms: number;
            /** @description The HTTP status. Null: there was no answer */
            status: number | null;
            /**
             * @description Null: the answer was 2xx
             * @enum {string|null}
             */
            failure: "status" | "timeout" | "unreachable" | "refused_address" | "secret_unavailable" | "endpoint_disabled" | null;
            /** @description The first 4,096 bytes of the answer, as text. Null: there was none */
            answer: string | null;
        };
        WebhookReplay: {
            /** @description Deliveries that are tried again */
            replayed: number;
            has_more: boolean;
        };
        ReplayWebhookDeliveries: {
            /** @description Epoch milliseconds: deliveries that were made then or later */
            since: number;
        };
        Tenant: {
            /** @description The id of a tenant */
            id: string;
            name: string;
            /** @description The model of sessions that name none */
            default_model: string;
            /** @description Null for the deployment's policy */
            default_policy: ("oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim") | {
                /** @enum {string} */
                preset?: "oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim";
                trigger?: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at?: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio?: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio?: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound?: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor?: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens?: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio?: number;
                };
                keep?: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio?: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of?: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens?: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens?: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages?: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio?: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens?: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut?: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages?: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages?: boolean;
                };
                results?: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars?: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut?: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear?: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full?: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio?: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond?: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars?: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools?: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools?: string[];
                };
                summary?: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form?: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement?: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens?: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio?: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after?: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode?: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact?: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts?: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models?: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms?: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions?: string | null;
                };
                tools?: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds?: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall?: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models?: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure?: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window?: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator?: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio?: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model?: string | null;
            } | null;
            /** @description The policy of sessions that name none, with all its values */
            effective_policy: {
                trigger: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio: number;
                };
                keep: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages: boolean;
                };
                results: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools: string[];
                };
                summary: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions: string | null;
                };
                tools: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model: string | null;
            };
            /** @description The web origins whose pages may send requests. A request of another page is refused */
            allowed_origins: string[];
            /** @description The tenant plan that the deployment's operator assigned. Null: none */
            plan: string | null;
            limits: components["schemas"]["LimitSet"];
        };
        LimitSet: {
            tenant: components["schemas"]["Limits"];
            key: components["schemas"]["KeyLimits"];
            end_user: components["schemas"]["EndUserLimits"];
        };
        /** @description Null, and a limit that is not named: no limit. 0 allows nothing */
        Limits: {
            /** @description Requests in any minute */
            requests_per_minute?: number | null;
            /** @description Turns that run at one time */
            concurrent_turns?: number | null;
            /** @description Streams that are open at one time */
            concurrent_streams?: number | null;
            /** @description Sessions that exist */
            sessions?: number | null;
            /** @description Bytes of stored files */
            stored_bytes?: number | null;
            /** @description Stored files */
            files?: number | null;
            /** @description Messages of one session */
            messages_per_session?: number | null;
            /** @description Calls of models in any minute, for answers and for compactions */
            model_calls_per_minute?: number | null;
        };
        /** @description Of each API key alone. Sessions and files belong to the tenant, not to a key */
        KeyLimits: {
            /** @description Requests in any minute */
            requests_per_minute?: number | null;
            /** @description Turns that run at one time */
            concurrent_turns?: number | null;
            /** @description Streams that are open at one time */
            concurrent_streams?: number | null;
            /** @description Calls of models in any minute, for answers and for compactions */
            model_calls_per_minute?: number | null;
        };
        /** @description Of each end user alone. Files belong to the tenant, and messages are limited in each session */
        EndUserLimits: {
            /** @description Requests in any minute */
            requests_per_minute?: number | null;
            /** @description Turns that run at one time */
            concurrent_turns?: number | null;
            /** @description Streams that are open at one time */
            concurrent_streams?: number | null;
            /** @description Sessions that exist */
            sessions?: number | null;
            /** @description Calls of models in any minute, for answers and for compactions */
            model_calls_per_minute?: number | null;
        };
        PatchTenant: {
            name?: string;
            /** @description Null returns to the deployment's default */
            default_model?: string | null;
            default_policy?: ("oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim") | {
                /** @enum {string} */
                preset?: "oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim";
                trigger?: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at?: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio?: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio?: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound?: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor?: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens?: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio?: number;
                };
                keep?: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio?: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of?: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens?: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens?: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages?: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio?: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens?: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut?: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages?: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages?: boolean;
                };
                results?: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars?: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut?: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear?: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full?: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio?: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond?: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars?: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools?: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools?: string[];
                };
                summary?: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form?: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement?: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens?: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio?: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after?: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode?: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact?: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts?: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models?: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms?: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions?: string | null;
                };
                tools?: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds?: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall?: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models?: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure?: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window?: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator?: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio?: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model?: string | null;
            } | null;
            /** @description Replaces the list. Scheme, host and port, without a path and without the scheme's own port. `*` allows pages of every origin */
            allowed_origins?: string[];
        };
        LimitUseList: {
            data: components["schemas"]["LimitUse"][];
        };
        BudgetUseList: {
            data: components["schemas"]["BudgetUse"][];
        };
        BudgetUse: {
            name: string;
            /**
             * @description The tenant as a whole, or each of its end users or sessions
             * @enum {string}
             */
            of: "tenant" | "end_user" | "session";
            /**
             * @description In UTC
             * @enum {string}
             */
            period: "day" | "month";
            /** @enum {string} */
            unit: "usd" | "tokens";
            amount: number;
            /**
             * @description Which model calls count
             * @enum {string}
             */
            purposes: "all" | "compaction";
            /** @description By calls that have ended, in US dollars or tokens */
            spent: number;
            /** @description For calls under way, and granted to sessions for their next ones, in US dollars or tokens */
            reserved: number;
            /** @description Of the amount, after both. Not below 0, in US dollars or tokens */
            remaining: number;
            /** @description When the period ends */
            resets_at: number;
        };
        /** @description `budget.threshold`: so much was spent. `budget.reached`: all was spent, or a call was refused, for the first time in the period */
        TenantEvent: components["schemas"]["BudgetThresholdEvent"] | components["schemas"]["BudgetReachedEvent"] | components["schemas"]["TenantSessionErasedEvent"] | components["schemas"]["ErasureCompletedEvent"] | components["schemas"]["ExportCompletedEvent"] | components["schemas"]["ExportFailedEvent"] | components["schemas"]["ImportCompletedEvent"] | components["schemas"]["ImportFailedEvent"] | components["schemas"]["WebhookEndpointDisabledEvent"];
        BudgetThresholdEvent: {
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "budget.threshold";
            data: components["schemas"]["BudgetEventData"];
        };
        BudgetEventData: {
            budget: string;
            /** @enum {string} */
            of: "tenant" | "end_user" | "session";
            /** @description The session's id, or the digest of the end user's name (`docs/erasing-people.md`). Null: the tenant */
            subject: string | null;
            /** @description Epoch milliseconds */
            period_starts_at: number;
            /** @enum {string} */
            unit: "usd" | "tokens";
            amount: number;
            spent: number;
            reserved: number;
            /** @description 50, 80 or 100 percent of the amount. Null: `budget.reached` */
            threshold: number | null;
        };
        BudgetReachedEvent: {
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "budget.reached";
            data: components["schemas"]["BudgetEventData"];
        };
        TenantSessionErasedEvent: {
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "session.erased";
            data: {
                /** @description The id of a session */
                id: string;
            };
        };
        ErasureCompletedEvent: {
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "erasure.completed";
            data: {
                /** @description The id of an erasure */
                id: string;
                /** @enum {string} */
                of: "session" | "end_user" | "tenant";
                /** @description The session that was to be erased. Null: an end user */
                session_id: string | null;
            };
        };
        ExportCompletedEvent: {
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "export.completed";
            data: {
                /** @description The id of an export */
                id: string;
            };
        };
        ExportFailedEvent: {
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "export.failed";
            data: {
                /** @description The id of an export */
                id: string;
            };
        };
        ImportCompletedEvent: {
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "import.completed";
            data: {
                /** @description The id of an import */
                id: string;
            };
        };
        ImportFailedEvent: {
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "import.failed";
            data: {
                /** @description The id of an import */
                id: string;
            };
        };
        WebhookEndpointDisabledEvent: {
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @enum {string} */
            type: "webhook_endpoint.disabled";
            data: {
                /** @description The id of a webhook endpoint */
                id: string;
                /** @enum {string} */
                reason: "requested" | "gone" | "failing" | "backlog";
            };
        };
        AuditPage: {
            data: components["schemas"]["AuditEntry"][];
            has_more: boolean;
            next_cursor: string | null;
            anchor: components["schemas"]["AuditPlace"];
            head: components["schemas"]["AuditPlace"] & unknown;
        };
        AuditEntry: {
            /** @description Counts the entries from 1, without a gap */
            seq: number;
            /** @description Epoch milliseconds */
            at: number;
            /** @description When the entry was made. Absent: at the time of the act */
            recorded_at?: number;
            actor: components["schemas"]["AuditActor"];
            /** @enum {string} */
            action: "tenant.created" | "tenant.rebuilt" | "tenant.suspended" | "tenant.resumed" | "tenant.move_begun" | "tenant.moved" | "tenant.move_cancelled" | "settings.changed" | "retention.changed" | "key.created" | "key.rotated" | "key.revoked" | "model.put" | "model.deleted" | "credential.put" | "credential.deleted" | "credentials.resealed" | "tool.put" | "tool.deleted" | "mcp_server.put" | "mcp_server.refreshed" | "mcp_server.deleted" | "file.uploaded" | "file.deleted" | "session.rebuilt" | "session.rebuilt_and_read" | "content.read_by_admin" | "session.settings_changed" | "session.archived" | "session.unarchived" | "session.rewound" | "pins.set" | "message.redacted" | "compaction.requested" | "compaction.reverted" | "summary.reset" | "draft.edited" | "draft.committed" | "draft.discarded" | "erasure.requested" | "erasure.finished" | "export.created" | "export.deleted" | "export.opened" | "sessions.imported" | "limits.changed" | "admin_key.created" | "admin_key.rotated" | "admin_key.revoked" | "plan.put" | "plan.deleted" | "tenant_list.rebuilt" | "import.begun" | "schedule.set" | "schedule.removed" | "import.deleted" | "webhook_endpoint.created" | "webhook_endpoint.changed" | "webhook_endpoint.secret_rotated" | "webhook_endpoint.deleted" | "webhook_endpoint.disabled" | "webhook_endpoint.tested" | "webhook_deliveries.replayed" | "channel.put" | "channel.deleted" | "channel.code_made" | "channel.user_paired" | "channel.user_unpaired";
            target: components["schemas"]["AuditTarget"];
            /** @description The `x-request-id` of the request. Null if there was none */
            request_id: string | null;
            details: components["schemas"]["AuditDetails"];
            /** @description The hash of the entry before */
            prev: string;
            /** @description SHA-256 of the entry without this field, as canonical JSON */
            hash: string;
        };
        AuditActor: {
            /** @enum {string} */
            kind: "key" | "access_token" | "admin" | "signed_address" | "system";
            /** @description Of the key, access token or admin key. Null for ADMIN_KEY, a signed address and the service itself */
            id: string | null;
            /** @description The key that made the access token. Absent otherwise */
            key?: string;
        };
        AuditTarget: {
            /** @enum {string} */
            type: "tenant" | "key" | "model" | "credential" | "tool" | "mcp_server" | "file" | "session" | "erasure" | "export" | "admin_key" | "plan" | "deployment" | "import" | "webhook_endpoint" | "channel";
            /** @description Its id, or the name that the tenant, or an admin, gave to it */
            id: string;
        };
        AuditDetails: {
            /** @description The names of the fields that the request named */
            fields?: string[];
            /** @description The scopes of the new key */
            scopes?: ("sessions:read" | "sessions:write" | "sessions:erase" | "files:read" | "files:write" | "models:write" | "credentials:write" | "tools:read" | "tools:write" | "settings:write" | "retention:write" | "usage:read" | "exports:write" | "webhooks:read" | "webhooks:write" | "keys:write" | "audit:read" | "channels:read" | "channels:write")[];
            /** @description The end of the new key. Null if it does not expire */
            expires_at?: number | null;
            /** @description The id of the key that comes in its place */
            replaced_by?: string;
            /** @description How long both keys are valid */
            overlap_ms?: number;
            /** @description How many were changed */
            number?: number;
            /** @description The database that the tenant leaves */
            from_database?: string;
            /** @description The database that the tenant is moved to */
            to_database?: string;
            /**
             * @description What the erasure or export is of
             * @enum {string}
             */
            of?: "session" | "end_user" | "tenant";
            /** @description The id of the erasure */
            erasure?: string;
            /** @description Whether the forks of the session are erased, too */
            forks?: boolean;
            /** @description The id of the session that is exported */
            session?: string;
            /** @description The id of the message that was redacted */
            message?: string;
            /** @description The id of the compaction or draft */
            compaction?: string;
            /** @description The last event of the session that the act made */
            event_seq?: number;
            /** @description The first event that was read */
            from_seq?: number;
            /** @description The last event that was read */
            to_seq?: number;
            /**
             * @description The role of the new admin key
             * @enum {string}
             */
            role?: "read" | "operate" | "own";
            /** @description The tenant plan that the tenant has. Null: none */
            plan?: string | null;
            /** @description Counts all changes of plans, and of what tenants may use */
            version?: number;
            about?: components["schemas"]["AuditTarget"] & unknown;
            /** @description In the deployment's log: the entry of the tenant's own log */
            audit_seq?: number;
        };
        /** @description The place before the oldest entry that is kept. seq 0: none was removed */
        AuditPlace: {
            seq: number;
            /** @description The hash of that entry */
            hash: string;
        };
        CreateTenant: {
            name: string;
        };
        NewKey: {
            /** @description The id of an API key */
            id: string;
            /** @description The key itself, which is shown only once. Null if the request repeats an Idempotency-Key: the first request created and showed the key, and only its hash is stored. If that response was lost, revoke this key and create another */
            key: string | null;
        };
        ListedTenant: {
            /** @description The id of a tenant */
            id: string;
            /** @description Empty if the tenant was deleted */
            name: string;
            /** @description Epoch milliseconds */
            created_at: number;
            /**
             * @description The keys of a suspended tenant open nothing, and nothing of it is removed
             * @enum {string}
             */
            status: "active" | "suspended" | "deleted";
            /** @description The database of the read model that it is in */
            database: string;
            /** @description When the tenant was deleted. Absent: it was not */
            deleted_at?: number;
        };
        TenantListRebuild: {
            /** @description Rows of tenants that this request read */
            tenants: number;
            /** @description Tenants that were not in the list before */
            added: number;
            /** @description Tenants with a row whose object does not know them. They stay unlisted */
            unknown: string[];
            /** @description Null if all rows were read */
            next_cursor: string | null;
        };
        TenantPlan: {
            name: string;
            limits: components["schemas"]["LimitSet"];
            budgets: components["schemas"]["Budget"][];
            /** @description Grows with each change */
            version: number;
            /** @description Epoch milliseconds */
            created_at: number;
            /** @description Epoch milliseconds */
            updated_at: number;
        };
        Budget: {
            name: string;
            /**
             * @description The tenant as a whole, or each of its end users or sessions
             * @enum {string}
             */
            of: "tenant" | "end_user" | "session";
            /**
             * @description In UTC
             * @enum {string}
             */
            period: "day" | "month";
            /** @enum {string} */
            unit: "usd" | "tokens";
            amount: number;
            /**
             * @description Which model calls count
             * @enum {string}
             */
            purposes: "all" | "compaction";
        };
        PutTenantPlan: {
            /** @description Default: no limits */
            limits?: {
                tenant?: components["schemas"]["Limits"];
                key?: components["schemas"]["KeyLimits"];
                end_user?: components["schemas"]["EndUserLimits"];
            };
            /** @description Default: none */
            budgets?: components["schemas"]["Budget"][];
        };
        /** @description `limits` and `budgets` are the tenant's own, `effective_limits` and `effective_budgets` those over what its plan has. A budget of its own replaces the plan's of that name */
        TenantAssignment: {
            /** @description Null: none */
            plan: string | null;
            limits: components["schemas"]["LimitSet"];
            effective_limits: components["schemas"]["LimitSet"];
            budgets: components["schemas"]["Budget"][];
            effective_budgets: components["schemas"]["Budget"][];
            /** @description Grows with each change of the plan and of the assignment */
            version: number;
            /** @description The tenant's object has confirmed what is in effect. Until then the change is sent again */
            confirmed: boolean;
        };
        AssignPlan: {
            /** @description The name of a tenant plan. Null: none */
            plan?: string | null;
            limits?: {
                tenant?: components["schemas"]["Limits"];
                key?: components["schemas"]["KeyLimits"];
                end_user?: components["schemas"]["EndUserLimits"];
            } | null;
            budgets?: components["schemas"]["Budget"][] | null;
        };
        TenantStanding: {
            /** @description The id of a tenant */
            id: string;
            /**
             * @description The keys of a suspended tenant open nothing, and nothing of it is removed
             * @enum {string}
             */
            status: "active" | "suspended" | "deleted";
            /** @description Null unless the tenant is suspended */
            suspended_at: number | null;
            /** @description What the admin wrote at the suspension */
            reason: string | null;
        };
        SuspendTenant: {
            /** @description For admins. The tenant does not read it */
            reason?: string;
        };
        AdminKey: {
            /** @description The id of an admin key */
            id: string;
            name: string;
            /**
             * @description Each role includes those before it
             * @enum {string}
             */
            role: "read" | "operate" | "own";
            /** @description Epoch milliseconds */
            created_at: number;
            /** @description Null if the key does not expire */
            expires_at: number | null;
            /** @description Epoch milliseconds */
            revoked_at: number | null;
            /** @description The key that created this one. Null for ADMIN_KEY */
            created_by: string | null;
            /** @description The key that revoked this one. Null for ADMIN_KEY, and while the key is not revoked */
            revoked_by: string | null;
            /** @description The key that this one replaces */
            rotated_from: string | null;
            /** @description The key that replaces this one */
            rotated_to: string | null;
            /** @description To within two minutes. Null if the key was never used */
            last_used_at: number | null;
        };
        CreateAdminKey: {
            name: string;
            /** @enum {string} */
            role: "read" | "operate" | "own";
            /** @description Default: that of the calling key. Null if the key does not expire */
            expires_at?: number | null;
        };
        RotateAdminKey: {
            /**
             * @description How long the old key stays valid. 0 ends it at once
             * @default 3600
             */
            overlap_seconds?: number;
        };
        TenantExport: {
            /** @description The id of a tenant */
            id: string;
            name: string;
            default_model: string;
            default_policy: ("oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim") | {
                /** @enum {string} */
                preset?: "oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim";
                trigger?: {
                    /**
                     * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                     * @enum {string}
                     */
                    at?: "after_response" | "before_turn" | "each_call";
                    /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                    window_ratio?: number | null;
                    /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                    usable_ratio?: number | null;
                    /**
                     * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                     * @enum {string}
                     */
                    bound?: "exceeded" | "reached";
                    /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                    rent_factor?: number | null;
                    /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                    rent_free_tokens?: number;
                    /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                    min_gain_ratio?: number;
                };
                keep?: {
                    /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                    ratio?: number;
                    /**
                     * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                     * @enum {string}
                     */
                    of?: "window" | "usable";
                    /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                    max_tokens?: number | null;
                    /** @description Minimum tokens that stay verbatim, if the window allows it */
                    min_tokens?: number;
                    /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                    messages?: number | null;
                    /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                    emergency_ratio?: number;
                    /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                    manual_tokens?: number | null;
                    /**
                     * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                     * @enum {string}
                     */
                    cut?: "fits" | "fills" | "next_user";
                    /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                    split_turn_messages?: number | null;
                    /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                    system_messages?: boolean;
                };
                results?: {
                    /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                    max_chars?: number;
                    /**
                     * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                     * @enum {string}
                     */
                    cut?: "head" | "head_tail";
                    /**
                     * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                     * @enum {string}
                     */
                    clear?: "never" | "at_epoch" | "each_call";
                    /** @description Number of newest tool results that are never cleared */
                    keep_full?: number;
                    /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                    clear_gain_ratio?: number;
                    /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                    preview_beyond?: number | null;
                    /** @description Characters of a shortened result at each end */
                    preview_chars?: number;
                    /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                    keep_tools?: {
                        [key: string]: number;
                    };
                    /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                    exclude_tools?: string[];
                };
                summary?: {
                    /**
                     * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                     * @enum {string}
                     */
                    form?: "narrative" | "structured" | "note" | "none";
                    /**
                     * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                     * @enum {string}
                     */
                    placement?: "system-prefix" | "system-message" | "user-message";
                    /** @description Maximum tokens of one summary */
                    max_tokens?: number;
                    /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                    chain_ratio?: number | null;
                    /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                    rebuild_after?: number | null;
                    /**
                     * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                     * @enum {string}
                     */
                    mode?: "transcript" | "cheaper";
                    /**
                     * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                     * @enum {string}
                     */
                    redact?: "off" | "secrets";
                    /** @description Maximum summariser calls before the compaction fails */
                    attempts?: number;
                    /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                    models?: string[];
                    /** @description Timeout of one summariser call, in milliseconds */
                    timeout_ms?: number;
                    /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                    instructions?: string | null;
                };
                tools?: {
                    /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                    max_rounds?: number;
                };
                /**
                 * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                 * @enum {string}
                 */
                recall?: "offered" | "off";
                /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                fallback_models?: string[];
                /**
                 * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                 * @enum {string}
                 */
                on_failure?: "drop" | "note" | "none";
                /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                unknown_window?: number | "conservative" | null;
                /**
                 * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                 * @enum {string}
                 */
                estimator?: "by_script" | "chars_4";
                /** @description When the guard drops messages, it continues down to this share of the usable window */
                guard_target_ratio?: number;
                /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                title_model?: string | null;
            } | null;
            allowed_origins: string[];
            /** @description Epoch milliseconds */
            created_at: number;
            /**
             * @description The keys of a suspended tenant open nothing, and nothing of it is removed
             * @enum {string}
             */
            status: "active" | "suspended" | "deleted";
            /** @description Null unless the tenant is suspended */
            suspended_at: number | null;
            /** @description What the admin wrote at the suspension */
            reason: string | null;
            /** @description The tenant plan that the deployment's operator assigned. Null: none */
            plan: string | null;
            limits: components["schemas"]["LimitSet"];
            models: components["schemas"]["Model"][];
            keys: components["schemas"]["Key"][];
        };
        RebuildReport: {
            session_id: string;
            /** @description The differences that this request found */
            differences: {
                table: string;
                key: string;
                /** @description Null if the whole row is missing (`before` is null) or should not exist (`after` is null) */
                column: string | null;
                before: string | number | null;
                after: string | number | null;
            }[];
            /** @description True if no difference is left. Null if the rebuild continues with `next_cursor` */
            repaired: boolean | null;
            /** @description Rows that this pass has compared so far. At the end, all rows of the session */
            rows: number;
            /** @description Null if the rebuild is over */
            next_cursor: string | null;
        };
        TenantRebuildReport: {
            /** @description The id of a tenant */
            tenant_id: string;
            /** @description The rows that were wrong or missing. Rows follow a change within seconds, so a recent change may be among them */
            differences: {
                table: string;
                key: string;
                /** @description Null if the whole row is missing (`before` is null) or should not exist (`after` is null) */
                column: string | null;
                before: string | number | null;
                after: string | number | null;
            }[];
            /** @description True if no difference is left */
            repaired: boolean;
            rows: number;
        };
        DatabaseList: {
            data: {
                /** @description A database, by the name of its binding */
                database: string;
                /** @description Null if the database did not answer, or has no tables */
                bytes: number | null;
                /** @description Of the 10 GB that a database holds */
                share: number | null;
                /**
                 * @description `high` from 50 %, `critical` from 90 %
                 * @enum {string}
                 */
                level: "ok" | "high" | "critical" | "unknown";
                /** @description Tenants that have rows in it. One that is being moved counts in both databases */
                tenants: number | null;
            }[];
        };
        Placement: {
            /** @description The id of a tenant */
            tenant_id: string;
            /** @description The database that lists and searches read */
            database: string;
            /** @description Grows with each change */
            version: number;
            /** @description Null if no move is under way */
            move: {
                /** @description The database that the tenant leaves */
                from: string;
                /** @description A database, by the name of its binding */
                to: string;
                /**
                 * @description `prepare` empties the target, `announce` waits until all writers write to both databases, `copy` and `verify` bring the history, `settle` and `release` wait until no reader and no writer uses the old database, `clean` empties it, and `sweep` does so again a minute later
                 * @enum {string}
                 */
                phase: "prepare" | "announce" | "copy" | "verify" | "settle" | "release" | "clean" | "sweep";
                /** @description When the phase began */
                since: number;
                /** @description Sessions that this phase has finished */
                sessions: number;
                /** @description Rows that `verify` had to correct */
                differences: number;
            } | null;
            /** @description How long the next step has to wait. 0 if it can be sent now, or no move is under way */
            wait_ms: number;
        };
        MoveTenant: {
            /** @description A database, by the name of its binding */
            to: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type Problem = components['schemas']['Problem'];
export type Session = components['schemas']['Session'];
export type ToolDefinition = components['schemas']['ToolDefinition'];
export type Pin = components['schemas']['Pin'];
export type CompactionBreaker = components['schemas']['CompactionBreaker'];
export type CreateSession = components['schemas']['CreateSession'];
export type ClientTool = components['schemas']['ClientTool'];
export type HttpToolOffer = components['schemas']['HttpToolOffer'];
export type McpToolsOffer = components['schemas']['McpToolsOffer'];
export type Generation = components['schemas']['Generation'];
export type FoundSession = components['schemas']['FoundSession'];
export type SessionSummary = components['schemas']['SessionSummary'];
export type SessionMatch = components['schemas']['SessionMatch'];
export type SessionSearch = components['schemas']['SessionSearch'];
export type PutSession = components['schemas']['PutSession'];
export type PatchSession = components['schemas']['PatchSession'];
export type ErasureReceipt = components['schemas']['ErasureReceipt'];
export type Turn = components['schemas']['Turn'];
export type Item = components['schemas']['Item'];
export type StreamFrame = components['schemas']['StreamFrame'];
export type MessageAcceptedFrame = components['schemas']['MessageAcceptedFrame'];
export type MessageCancelledFrame = components['schemas']['MessageCancelledFrame'];
export type MessageRedactedFrame = components['schemas']['MessageRedactedFrame'];
export type TurnStartedFrame = components['schemas']['TurnStartedFrame'];
export type TurnResumedFrame = components['schemas']['TurnResumedFrame'];
export type TurnWaitingFrame = components['schemas']['TurnWaitingFrame'];
export type TextDeltaFrame = components['schemas']['TextDeltaFrame'];
export type ReasoningDeltaFrame = components['schemas']['ReasoningDeltaFrame'];
export type ItemCompletedFrame = components['schemas']['ItemCompletedFrame'];
export type ToolStartedFrame = components['schemas']['ToolStartedFrame'];
export type ApprovalRequestedFrame = components['schemas']['ApprovalRequestedFrame'];
export type ApprovalResolvedFrame = components['schemas']['ApprovalResolvedFrame'];
export type TurnAwaitingToolsFrame = components['schemas']['TurnAwaitingToolsFrame'];
export type TurnCompletedFrame = components['schemas']['TurnCompletedFrame'];
export type TurnFailedFrame = components['schemas']['TurnFailedFrame'];
export type TurnStoppedFrame = components['schemas']['TurnStoppedFrame'];
export type TurnInterruptedFrame = components['schemas']['TurnInterruptedFrame'];
export type UsageUpdatedFrame = components['schemas']['UsageUpdatedFrame'];
export type CompactionStartedFrame = components['schemas']['CompactionStartedFrame'];
export type CompactionDraftedFrame = components['schemas']['CompactionDraftedFrame'];
export type CompactionCompletedFrame = components['schemas']['CompactionCompletedFrame'];
export type NoticeFrame = components['schemas']['NoticeFrame'];
export type BranchChangedFrame = components['schemas']['BranchChangedFrame'];
export type SessionErasedFrame = components['schemas']['SessionErasedFrame'];
export type StreamGapFrame = components['schemas']['StreamGapFrame'];
export type StreamRewindFrame = components['schemas']['StreamRewindFrame'];
export type StreamHaltedFrame = components['schemas']['StreamHaltedFrame'];
export type Accepted = components['schemas']['Accepted'];
export type SubmitMessage = components['schemas']['SubmitMessage'];
export type ImportedMessages = components['schemas']['ImportedMessages'];
export type ImportMessages = components['schemas']['ImportMessages'];
export type WrittenMessage = components['schemas']['WrittenMessage'];
export type ToolResults = components['schemas']['ToolResults'];
export type Approvals = components['schemas']['Approvals'];
export type Respond = components['schemas']['Respond'];
export type TurnSettings = components['schemas']['TurnSettings'];
export type Stop = components['schemas']['Stop'];
export type RepeatTurn = components['schemas']['RepeatTurn'];
export type Branch = components['schemas']['Branch'];
export type Rewind = components['schemas']['Rewind'];
export type BranchComparison = components['schemas']['BranchComparison'];
export type EditMessage = components['schemas']['EditMessage'];
export type Redacted = components['schemas']['Redacted'];
export type Fork = components['schemas']['Fork'];
export type Event = components['schemas']['Event'];
export type SessionOpenedEvent = components['schemas']['SessionOpenedEvent'];
export type SettingsChangedEvent = components['schemas']['SettingsChangedEvent'];
export type PinsSetEvent = components['schemas']['PinsSetEvent'];
export type SessionForkedEvent = components['schemas']['SessionForkedEvent'];
export type ForkCompletedEvent = components['schemas']['ForkCompletedEvent'];
export type SessionArchivedEvent = components['schemas']['SessionArchivedEvent'];
export type SessionUnarchivedEvent = components['schemas']['SessionUnarchivedEvent'];
export type SessionErasedEvent = components['schemas']['SessionErasedEvent'];
export type MessagesAppendedEvent = components['schemas']['MessagesAppendedEvent'];
export type MessageQueuedEvent = components['schemas']['MessageQueuedEvent'];
export type QueuedMessageCancelledEvent = components['schemas']['QueuedMessageCancelledEvent'];
export type MessageRedactedEvent = components['schemas']['MessageRedactedEvent'];
export type HistoryRewoundEvent = components['schemas']['HistoryRewoundEvent'];
export type BranchSwitchedEvent = components['schemas']['BranchSwitchedEvent'];
export type TurnStartedEvent = components['schemas']['TurnStartedEvent'];
export type ModelCallFinishedEvent = components['schemas']['ModelCallFinishedEvent'];
export type AssistantRepliedEvent = components['schemas']['AssistantRepliedEvent'];
export type ToolCalledEvent = components['schemas']['ToolCalledEvent'];
export type ToolStartedEvent = components['schemas']['ToolStartedEvent'];
export type ToolResultRecordedEvent = components['schemas']['ToolResultRecordedEvent'];
export type ApprovalRequestedEvent = components['schemas']['ApprovalRequestedEvent'];
export type ApprovalResolvedEvent = components['schemas']['ApprovalResolvedEvent'];
export type TurnCompletedEvent = components['schemas']['TurnCompletedEvent'];
export type TurnFailedEvent = components['schemas']['TurnFailedEvent'];
export type TurnStoppedEvent = components['schemas']['TurnStoppedEvent'];
export type TurnInterruptedEvent = components['schemas']['TurnInterruptedEvent'];
export type CompactionRequestedEvent = components['schemas']['CompactionRequestedEvent'];
export type CompactionProgressedEvent = components['schemas']['CompactionProgressedEvent'];
export type CompactionStartedEvent = components['schemas']['CompactionStartedEvent'];
export type CompactionFailedEvent = components['schemas']['CompactionFailedEvent'];
export type CompactionDraftedEvent = components['schemas']['CompactionDraftedEvent'];
export type ScheduleSetEvent = components['schemas']['ScheduleSetEvent'];
export type ScheduleRanEvent = components['schemas']['ScheduleRanEvent'];
export type ScheduleRemovedEvent = components['schemas']['ScheduleRemovedEvent'];
export type DraftEditedEvent = components['schemas']['DraftEditedEvent'];
export type EpochChangedEvent = components['schemas']['EpochChangedEvent'];
export type Compaction = components['schemas']['Compaction'];
export type Context = components['schemas']['Context'];
export type PastContext = components['schemas']['PastContext'];
export type NextMessage = components['schemas']['NextMessage'];
export type ContextDiff = components['schemas']['ContextDiff'];
export type Recall = components['schemas']['Recall'];
export type RecallHit = components['schemas']['RecallHit'];
export type RecallQuestion = components['schemas']['RecallQuestion'];
export type CompactionPlan = components['schemas']['CompactionPlan'];
export type Compact = components['schemas']['Compact'];
export type Pins = components['schemas']['Pins'];
export type PutPins = components['schemas']['PutPins'];
export type Schedule = components['schemas']['Schedule'];
export type PutSchedule = components['schemas']['PutSchedule'];
export type EditDraft = components['schemas']['EditDraft'];
export type CommitDraft = components['schemas']['CommitDraft'];
export type SummaryComparison = components['schemas']['SummaryComparison'];
export type CompareSummaries = components['schemas']['CompareSummaries'];
export type ExecutionDetail = components['schemas']['ExecutionDetail'];
export type Execution = components['schemas']['Execution'];
export type ListedPolicy = components['schemas']['ListedPolicy'];
export type PolicyParameter = components['schemas']['PolicyParameter'];
export type Policy = components['schemas']['Policy'];
export type Evaluation = components['schemas']['Evaluation'];
export type PolicyRun = components['schemas']['PolicyRun'];
export type EvaluatePolicy = components['schemas']['EvaluatePolicy'];
export type Usage = components['schemas']['Usage'];
export type ModelCall = components['schemas']['ModelCall'];
export type Key = components['schemas']['Key'];
export type KeyRestriction = components['schemas']['KeyRestriction'];
export type ClientSettings = components['schemas']['ClientSettings'];
export type CreateKey = components['schemas']['CreateKey'];
export type CreateKeyRestriction = components['schemas']['CreateKeyRestriction'];
export type CreateClientSettings = components['schemas']['CreateClientSettings'];
export type RotateKey = components['schemas']['RotateKey'];
export type AccessToken = components['schemas']['AccessToken'];
export type CreateAccessToken = components['schemas']['CreateAccessToken'];
export type Model = components['schemas']['Model'];
export type PutModel = components['schemas']['PutModel'];
export type ModelDeletion = components['schemas']['ModelDeletion'];
export type Credential = components['schemas']['Credential'];
export type PutCredential = components['schemas']['PutCredential'];
export type CredentialRotation = components['schemas']['CredentialRotation'];
export type Tool = components['schemas']['Tool'];
export type PutTool = components['schemas']['PutTool'];
export type McpServer = components['schemas']['McpServer'];
export type PutMcpServer = components['schemas']['PutMcpServer'];
export type Channel = components['schemas']['Channel'];
export type PutChannel = components['schemas']['PutChannel'];
export type PairingCode = components['schemas']['PairingCode'];
export type PairedUser = components['schemas']['PairedUser'];
export type ChannelLogEntry = components['schemas']['ChannelLogEntry'];
export type File = components['schemas']['File'];
export type FileUrl = components['schemas']['FileUrl'];
export type FileErasure = components['schemas']['FileErasure'];
export type Erasure = components['schemas']['Erasure'];
export type EndUserSummary = components['schemas']['EndUserSummary'];
export type EndUser = components['schemas']['EndUser'];
export type LimitUse = components['schemas']['LimitUse'];
export type Retention = components['schemas']['Retention'];
export type RetentionInput = components['schemas']['RetentionInput'];
export type RetentionPreview = components['schemas']['RetentionPreview'];
export type RetentionAct = components['schemas']['RetentionAct'];
export type UsageRemoval = components['schemas']['UsageRemoval'];
export type Export = components['schemas']['Export'];
export type ExportRemoval = components['schemas']['ExportRemoval'];
export type ImportReport = components['schemas']['ImportReport'];
export type ImportedSetting = components['schemas']['ImportedSetting'];
export type ImportedSession = components['schemas']['ImportedSession'];
export type Import = components['schemas']['Import'];
export type ImportEntry = components['schemas']['ImportEntry'];
export type ImportDeletion = components['schemas']['ImportDeletion'];
export type WebhookEndpoint = components['schemas']['WebhookEndpoint'];
export type CreateWebhookEndpoint = components['schemas']['CreateWebhookEndpoint'];
export type PatchWebhookEndpoint = components['schemas']['PatchWebhookEndpoint'];
export type RotateWebhookSecret = components['schemas']['RotateWebhookSecret'];
export type WebhookDelivery = components['schemas']['WebhookDelivery'];
export type WebhookDeliveryDetail = components['schemas']['WebhookDeliveryDetail'];
export type WebhookAttempt = components['schemas']['WebhookAttempt'];
export type WebhookReplay = components['schemas']['WebhookReplay'];
export type ReplayWebhookDeliveries = components['schemas']['ReplayWebhookDeliveries'];
export type Tenant = components['schemas']['Tenant'];
export type LimitSet = components['schemas']['LimitSet'];
export type Limits = components['schemas']['Limits'];
export type KeyLimits = components['schemas']['KeyLimits'];
export type EndUserLimits = components['schemas']['EndUserLimits'];
export type PatchTenant = components['schemas']['PatchTenant'];
export type LimitUseList = components['schemas']['LimitUseList'];
export type BudgetUseList = components['schemas']['BudgetUseList'];
export type BudgetUse = components['schemas']['BudgetUse'];
export type TenantEvent = components['schemas']['TenantEvent'];
export type BudgetThresholdEvent = components['schemas']['BudgetThresholdEvent'];
export type BudgetEventData = components['schemas']['BudgetEventData'];
export type BudgetReachedEvent = components['schemas']['BudgetReachedEvent'];
export type TenantSessionErasedEvent = components['schemas']['TenantSessionErasedEvent'];
export type ErasureCompletedEvent = components['schemas']['ErasureCompletedEvent'];
export type ExportCompletedEvent = components['schemas']['ExportCompletedEvent'];
export type ExportFailedEvent = components['schemas']['ExportFailedEvent'];
export type ImportCompletedEvent = components['schemas']['ImportCompletedEvent'];
export type ImportFailedEvent = components['schemas']['ImportFailedEvent'];
export type WebhookEndpointDisabledEvent = components['schemas']['WebhookEndpointDisabledEvent'];
export type AuditPage = components['schemas']['AuditPage'];
export type AuditEntry = components['schemas']['AuditEntry'];
export type AuditActor = components['schemas']['AuditActor'];
export type AuditTarget = components['schemas']['AuditTarget'];
export type AuditDetails = components['schemas']['AuditDetails'];
export type AuditPlace = components['schemas']['AuditPlace'];
export type CreateTenant = components['schemas']['CreateTenant'];
export type NewKey = components['schemas']['NewKey'];
export type ListedTenant = components['schemas']['ListedTenant'];
export type TenantListRebuild = components['schemas']['TenantListRebuild'];
export type TenantPlan = components['schemas']['TenantPlan'];
export type Budget = components['schemas']['Budget'];
export type PutTenantPlan = components['schemas']['PutTenantPlan'];
export type TenantAssignment = components['schemas']['TenantAssignment'];
export type AssignPlan = components['schemas']['AssignPlan'];
export type TenantStanding = components['schemas']['TenantStanding'];
export type SuspendTenant = components['schemas']['SuspendTenant'];
export type AdminKey = components['schemas']['AdminKey'];
export type CreateAdminKey = components['schemas']['CreateAdminKey'];
export type RotateAdminKey = components['schemas']['RotateAdminKey'];
export type TenantExport = components['schemas']['TenantExport'];
export type RebuildReport = components['schemas']['RebuildReport'];
export type TenantRebuildReport = components['schemas']['TenantRebuildReport'];
export type DatabaseList = components['schemas']['DatabaseList'];
export type Placement = components['schemas']['Placement'];
export type MoveTenant = components['schemas']['MoveTenant'];
export type $defs = Record<string, never>;
export interface operations {
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The service is up */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        status: "ok";
                    };
                };
            };
        };
    };
    getOpenapiDocument: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of a copy: 304 if it is still the same */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        openapi: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    getReferencePage: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of a copy: 304 if it is still the same */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
        };
    };
    getReferenceFile: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of a copy: 304 if it is still the same */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The name of the file */
                file: "start.js" | "swagger-ui-bundle.js" | "swagger-ui-bundle.js.LICENSE.txt" | "swagger-ui.css";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/javascript": string;
                    "text/css": string;
                    "text/plain": string;
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before, with the same order */
                after?: string;
                /** @description The time by which the sessions are ordered */
                order_by?: "updated_at" | "created_at";
                /** @description `desc`: the latest first */
                order?: "asc" | "desc";
                /** @description `false`: without archived sessions; `true`: only these; `any`: both */
                archived?: "true" | "false" | "any";
                /** @description The client's own id of the session, unique in the tenant */
                external_id?: string;
                /** @description The client's id of the person who talks */
                end_user?: string;
                /** @description Only sessions with these entries: `metadata[colour]=red` */
                metadata?: {
                    [key: string]: string;
                };
                /** @description Only sessions that were created after this moment: epoch milliseconds, or a day, which stands for its beginning */
                created_after?: string;
                /** @description Only sessions that were created before this moment */
                created_before?: string;
                /** @description Only sessions that changed after this moment */
                updated_after?: string;
                /** @description Only sessions that did not change since this moment */
                updated_before?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of sessions. The list lags behind the sessions by a short delay */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SessionSummary"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    createSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreateSession"];
            };
        };
        responses: {
            /** @description The session */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    searchSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionSearch"];
            };
        };
        responses: {
            /** @description A page of the sessions found */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FoundSession"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getSessionByExternalId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A slash in it is written %2F */
                external_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    getOrCreateSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A slash in it is written %2F */
                external_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PutSession"];
            };
        };
        responses: {
            /** @description The session that has the id, unchanged */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description The new session */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    eraseSession: {
        parameters: {
            query?: {
                /** @description true: the forks of the session, and forks of these, too */
                forks?: "true" | "false";
            };
            header?: {
                /** @description Change only a resource with this etag: 412 precondition_failed if it has changed since it was read */
                "If-Match"?: string;
                /** @description `*`: create only; 412 precondition_failed if the resource exists */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was erased, by store */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErasureReceipt"];
                };
            };
        };
    };
    updateSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description Change only a resource with this etag: 412 precondition_failed if it has changed since it was read */
                "If-Match"?: string;
                /** @description `*`: create only; 412 precondition_failed if the resource exists */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchSession"];
            };
        };
        responses: {
            /** @description The session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    listMessages: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the smallest or oldest first */
                order?: "asc" | "desc";
                /** @description current (the default), all, or a branch's number */
                branch?: string;
                /** @description Only the message with this client_id, on whichever branch it is */
                client_id?: string;
            };
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, in order of position */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Item"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    sendMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
                /** @description respond-async: 202 as soon as the message is durable */
                Prefer?: string;
                /** @description With Accept: text/event-stream: the last offset that the client has. The stream goes on after it. Sent with the same `Idempotency-Key` after a break */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubmitMessage"];
            };
        };
        responses: {
            /** @description The turn, once it has ended, failed or waits for tools. With Accept: text/event-stream: its frames as they are produced */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Turn"];
                    "text/event-stream": components["schemas"]["StreamFrame"];
                };
            };
            /** @description Appended (run: false) */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            /** @description Accepted: `Prefer: respond-async` was sent, or the turn goes on and could not be awaited. GET the turn to read it */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    importMessages: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImportMessages"];
            };
        };
        responses: {
            /** @description Appended */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportedMessages"];
                };
            };
        };
    };
    getMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
                /** @description The id of a message */
                message_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The message */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Item"];
                };
            };
        };
    };
    cancelMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
                /** @description The id of a message */
                message_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Cancelled. For an imported reply, the queued results of its calls are cancelled too */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    submitToolResults: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
                /** @description respond-async: 202 as soon as the message is durable */
                Prefer?: string;
                /** @description With Accept: text/event-stream: the last offset that the client has. The stream goes on after it. Sent with the same `Idempotency-Key` after a break */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolResults"];
            };
        };
        responses: {
            /** @description The turn, once it has ended, failed or waits for tools. With Accept: text/event-stream: its frames as they are produced */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Turn"];
                    "text/event-stream": components["schemas"]["StreamFrame"];
                };
            };
            /** @description Accepted: `Prefer: respond-async` was sent, or the turn goes on and could not be awaited. GET the turn to read it */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    resolveApprovals: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
                /** @description respond-async: 202 as soon as the message is durable */
                Prefer?: string;
                /** @description With Accept: text/event-stream: the last offset that the client has. The stream goes on after it. Sent with the same `Idempotency-Key` after a break */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Approvals"];
            };
        };
        responses: {
            /** @description The turn, once it has ended, failed or waits for tools. With Accept: text/event-stream: its frames as they are produced */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Turn"];
                    "text/event-stream": components["schemas"]["StreamFrame"];
                };
            };
            /** @description Accepted: `Prefer: respond-async` was sent, or the turn goes on and could not be awaited. GET the turn to read it */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    respond: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
                /** @description respond-async: 202 as soon as the message is durable */
                Prefer?: string;
                /** @description With Accept: text/event-stream: the last offset that the client has. The stream goes on after it. Sent with the same `Idempotency-Key` after a break */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Respond"];
            };
        };
        responses: {
            /** @description The turn, once it has ended, failed or waits for tools. With Accept: text/event-stream: its frames as they are produced */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Turn"];
                    "text/event-stream": components["schemas"]["StreamFrame"];
                };
            };
            /** @description Recorded (run: false) */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            /** @description Accepted: `Prefer: respond-async` was sent, or the turn goes on and could not be awaited. GET the turn to read it */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    listTurns: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description desc: the newest first */
                order?: "asc" | "desc";
            };
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, in the order in which the turns were asked for */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Turn"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getTurn: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
                /** @description The id of a turn */
                turn_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The turn */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Turn"];
                };
            };
        };
    };
    getTurnSettings: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
                /** @description The id of a turn */
                turn_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The settings */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TurnSettings"];
                };
            };
        };
    };
    stopTurn: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Stop"];
            };
        };
        responses: {
            /** @description The turn. `status` says how it ended, by this request or before it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Turn"];
                };
            };
        };
    };
    retryTurn: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
                /** @description respond-async: 202 as soon as the message is durable */
                Prefer?: string;
                /** @description With Accept: text/event-stream: the last offset that the client has. The stream goes on after it. Sent with the same `Idempotency-Key` after a break */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RepeatTurn"];
            };
        };
        responses: {
            /** @description The turn, once it has ended, failed or waits for tools. With Accept: text/event-stream: its frames as they are produced */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Turn"];
                    "text/event-stream": components["schemas"]["StreamFrame"];
                };
            };
            /** @description Accepted: `Prefer: respond-async` was sent, or the turn goes on and could not be awaited. GET the turn to read it */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    listBranches: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the smallest or oldest first */
                order?: "asc" | "desc";
            };
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, the oldest branch first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Branch"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    rewindSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Rewind"];
            };
        };
        responses: {
            /** @description The new branch */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Branch"];
                };
            };
        };
    };
    compareBranches: {
        parameters: {
            query?: {
                /** @description The number of a branch */
                a?: string;
                /** @description The number of a branch */
                b?: string;
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The position where the branches diverge, and the messages after it on each */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BranchComparison"];
                };
            };
        };
    };
    switchBranch: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
                /** @description The number of a branch */
                branch: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The branch */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Branch"];
                };
            };
        };
    };
    editMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
                /** @description respond-async: 202 as soon as the message is durable */
                Prefer?: string;
                /** @description With Accept: text/event-stream: the last offset that the client has. The stream goes on after it. Sent with the same `Idempotency-Key` after a break */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
                /** @description The id of a message */
                message_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EditMessage"];
            };
        };
        responses: {
            /** @description The turn, once it has ended, failed or waits for tools. With Accept: text/event-stream: its frames as they are produced */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Turn"];
                    "text/event-stream": components["schemas"]["StreamFrame"];
                };
            };
            /** @description Accepted: `Prefer: respond-async` was sent, or the turn goes on and could not be awaited. GET the turn to read it */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    regenerateMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
                /** @description respond-async: 202 as soon as the message is durable */
                Prefer?: string;
                /** @description With Accept: text/event-stream: the last offset that the client has. The stream goes on after it. Sent with the same `Idempotency-Key` after a break */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
                /** @description The id of a message */
                message_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RepeatTurn"];
            };
        };
        responses: {
            /** @description The turn, once it has ended, failed or waits for tools. With Accept: text/event-stream: its frames as they are produced */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Turn"];
                    "text/event-stream": components["schemas"]["StreamFrame"];
                };
            };
            /** @description Accepted: `Prefer: respond-async` was sent, or the turn goes on and could not be awaited. GET the turn to read it */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    redactMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
                /** @description The id of a message */
                message_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The message without its content. It keeps its position */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Redacted"];
                };
            };
        };
    };
    forkSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Fork"];
            };
        };
        responses: {
            /** @description The new session */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    streamSession: {
        parameters: {
            query?: {
                /** @description The last offset received. Default: the start of the running turn */
                after?: string;
                /** @description An access token, in place of the header Authorization, which EventSource cannot send */
                token?: string;
            };
            header?: {
                /** @description Sent by a browser that reconnects. It takes precedence over `after` */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events: the name of each is the frame's `type`, its id the offset to resume from. Comments are an idle stream's beginning and its heartbeats. It ends within a minute of its key's or access token's end */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["StreamFrame"];
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the smallest or oldest first */
                order?: "asc" | "desc";
                /** @description An access token, in place of the header Authorization, which EventSource cannot send */
                token?: string;
            };
            header?: {
                /** @description Sent by a browser that reconnects. It takes precedence over `after` */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page in order of seq, or the log from `after` on, until the session or the credential ends */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Event"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                    "text/event-stream": components["schemas"]["Event"];
                };
            };
        };
    };
    listCompactions: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the smallest or oldest first */
                order?: "asc" | "desc";
            };
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, in order of time */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Compaction"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    createCompaction: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
                /** @description respond-async has no effect: a compaction that needs a model always runs in the background */
                Prefer?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Compact"];
            };
        };
        responses: {
            /** @description The plan of a dry run, or a plan of kind `none` when there is nothing to do. Nothing was stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompactionPlan"];
                };
            };
            /** @description The compaction, completed: no model was needed */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Compaction"];
                };
            };
            /** @description The compaction runs in the background, after the running turn if there is one */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Compaction"];
                };
            };
        };
    };
    getCompaction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
                /** @description The id of a compaction */
                compaction_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The compaction */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Compaction"];
                };
            };
        };
    };
    discardDraft: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
                /** @description The id of a compaction */
                compaction_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Discarded. The view was never changed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    editDraft: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
                /** @description The id of a compaction */
                compaction_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EditDraft"];
            };
        };
        responses: {
            /** @description The draft, with the effect of committing it now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Compaction"];
                };
            };
        };
    };
    getContext: {
        parameters: {
            query?: {
                /** @description Include this text as the next user message. URLs are often logged: use POST for private text */
                content?: string;
                /** @description A past turn: its request is rebuilt from the log and checked against its stored digest */
                at?: string;
                /** @description The number of the turn's model call, from 1. Default: the last call that sent a request */
                call?: number;
            };
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request and the tokens of its parts. A request that is too large for one response is refused with 413 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Context"] | components["schemas"]["PastContext"];
                };
            };
        };
    };
    previewContext: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NextMessage"];
            };
        };
        responses: {
            /** @description The request and the tokens of its parts. A request that is too large for one response is refused with 413 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Context"];
                };
            };
        };
    };
    compareContexts: {
        parameters: {
            query: {
                /** @description The id of a turn, or `now` for the next request */
                from: string;
                /** @description The id of a turn, or `now` for the next request */
                to: string;
                /** @description The number of that turn's model call, from 1. Default: the last call that sent a request */
                from_call?: number;
                /** @description The number of that turn's model call, from 1. Default: the last call that sent a request */
                to_call?: number;
            };
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The differences in messages, summaries and settings, without content */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContextDiff"];
                };
            };
        };
    };
    recall: {
        parameters: {
            query?: {
                /** @description Words to search for, within `from` and `to` if given */
                q?: string;
                /** @description A call with its arguments and its recorded result */
                execution_id?: string;
                /** @description First position */
                from?: string;
                /** @description Last position */
                to?: string;
                /** @description The most hits. `text` has a limit of its own */
                limit?: number;
                /** @description UTF-16 units of an execution or a range to skip */
                offset?: string;
            };
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The items found */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Recall"];
                };
            };
        };
    };
    recallByBody: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecallQuestion"];
            };
        };
        responses: {
            /** @description The items found */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Recall"];
                };
            };
        };
    };
    archiveSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    unarchiveSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    revertCompaction: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
                /** @description The id of a compaction */
                compaction_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The reverted compaction. `reverted.by` is the id of the change that reverted it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Compaction"];
                };
            };
        };
    };
    resetSummary: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change of the view */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Compaction"];
                };
            };
            /** @description There is no summary */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getPins: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pins */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pins"];
                };
            };
        };
    };
    setPins: {
        parameters: {
            query?: never;
            header?: {
                /** @description Change only a resource with this etag: 412 precondition_failed if it has changed since it was read */
                "If-Match"?: string;
                /** @description `*`: create only; 412 precondition_failed if the resource exists */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutPins"];
            };
        };
        responses: {
            /** @description The pins */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pins"];
                };
            };
        };
    };
    listSchedules: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the smallest or oldest first */
                order?: "asc" | "desc";
            };
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, in order of name */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Schedule"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
                /** @description The name that the client gave to the schedule */
                schedule_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schedule */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
        };
    };
    putSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description Change only a resource with this etag: 412 precondition_failed if it has changed since it was read */
                "If-Match"?: string;
                /** @description `*`: create only; 412 precondition_failed if the resource exists */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
                /** @description The name that the client gave to the schedule */
                schedule_name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutSchedule"];
            };
        };
        responses: {
            /** @description The schedule */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
        };
    };
    deleteSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description Change only a resource with this etag: 412 precondition_failed if it has changed since it was read */
                "If-Match"?: string;
                /** @description `*`: create only; 412 precondition_failed if the resource exists */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
                /** @description The name that the client gave to the schedule */
                schedule_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    commitDraft: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of a session */
                session_id: string;
                /** @description The id of a compaction */
                compaction_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CommitDraft"];
            };
        };
        responses: {
            /** @description The completed compaction. Its receipt names the editor */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Compaction"];
                };
            };
        };
    };
    compareSummaries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompareSummaries"];
            };
        };
        responses: {
            /** @description The comparison. Without questions, no model was called */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SummaryComparison"];
                };
            };
        };
    };
    getExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a tool call */
                execution_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The execution. It becomes available shortly after the call */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionDetail"];
                };
            };
        };
    };
    listExecutions: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the smallest or oldest first */
                order?: "asc" | "desc";
            };
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, in order of position */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Execution"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    listPolicies: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the smallest or oldest first */
                order?: "asc" | "desc";
                /** @description `parameters`: also all values of each policy, and the bounds and the meaning of every parameter */
                include?: "parameters";
            };
            header?: {
                /** @description The ETag of a copy: 304 if it is still the same */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ListedPolicy"][];
                        has_more: boolean;
                        next_cursor: string | null;
                        /** @description Every parameter with its bounds and its meaning. Only with `include=parameters` */
                        parameters?: components["schemas"]["PolicyParameter"][];
                        /** @description The policy of sessions that name none and whose tenant names none */
                        deployment: ("oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim") | {
                            /** @enum {string} */
                            preset?: "oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim";
                            trigger?: {
                                /**
                                 * @description When the policy considers a compaction: in the background after a response, before a turn, or before each model call
                                 * @enum {string}
                                 */
                                at?: "after_response" | "before_turn" | "each_call";
                                /** @description Compact when the next request would exceed this share of the window; null: no such bound */
                                window_ratio?: number | null;
                                /** @description Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound */
                                usable_ratio?: number | null;
                                /**
                                 * @description Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)
                                 * @enum {string}
                                 */
                                bound?: "exceeded" | "reached";
                                /** @description Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason */
                                rent_factor?: number | null;
                                /** @description The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost */
                                rent_free_tokens?: number;
                                /** @description Least share of the next request that a compaction triggered by the cache read cost must free */
                                min_gain_ratio?: number;
                            };
                            keep?: {
                                /** @description Share of what `keep.of` names that the newest messages may take up, verbatim */
                                ratio?: number;
                                /**
                                 * @description What `ratio` refers to: the window, or the usable window (the window less the reserve)
                                 * @enum {string}
                                 */
                                of?: "window" | "usable";
                                /** @description Maximum tokens that stay verbatim; null: only `ratio` applies */
                                max_tokens?: number | null;
                                /** @description Minimum tokens that stay verbatim, if the window allows it */
                                min_tokens?: number;
                                /** @description Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies */
                                messages?: number | null;
                                /** @description Share of the window that stays verbatim after a provider refused a request as too long */
                                emergency_ratio?: number;
                                /** @description Tokens that stay verbatim in a manual compaction; null: `ratio` applies */
                                manual_tokens?: number | null;
                                /**
                                 * @description Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded
                                 * @enum {string}
                                 */
                                cut?: "fits" | "fills" | "next_user";
                                /** @description Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never */
                                split_turn_messages?: number | null;
                                /** @description Whether system messages inside the conversation stay verbatim, in front of the kept messages */
                                system_messages?: boolean;
                            };
                            results?: {
                                /** @description Maximum characters of a recorded tool result; a longer result is truncated */
                                max_chars?: number;
                                /**
                                 * @description Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters
                                 * @enum {string}
                                 */
                                cut?: "head" | "head_tail";
                                /**
                                 * @description When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call
                                 * @enum {string}
                                 */
                                clear?: "never" | "at_epoch" | "each_call";
                                /** @description Number of newest tool results that are never cleared */
                                keep_full?: number;
                                /** @description With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request */
                                clear_gain_ratio?: number;
                                /** @description When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay */
                                preview_beyond?: number | null;
                                /** @description Characters of a shortened result at each end */
                                preview_chars?: number;
                                /** @description By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools */
                                keep_tools?: {
                                    [key: string]: number;
                                };
                                /** @description Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64 */
                                exclude_tools?: string[];
                            };
                            summary?: {
                                /**
                                 * @description The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary
                                 * @enum {string}
                                 */
                                form?: "narrative" | "structured" | "note" | "none";
                                /**
                                 * @description Where a request contains the summary: before the system prompt, as a system message after it, or as a user message
                                 * @enum {string}
                                 */
                                placement?: "system-prefix" | "system-message" | "user-message";
                                /** @description Maximum tokens of one summary */
                                max_tokens?: number;
                                /** @description New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary */
                                chain_ratio?: number | null;
                                /** @description After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never */
                                rebuild_after?: number | null;
                                /**
                                 * @description How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper
                                 * @enum {string}
                                 */
                                mode?: "transcript" | "cheaper";
                                /**
                                 * @description Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript
                                 * @enum {string}
                                 */
                                redact?: "off" | "secrets";
                                /** @description Maximum summariser calls before the compaction fails */
                                attempts?: number;
                                /** @description Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model */
                                models?: string[];
                                /** @description Timeout of one summariser call, in milliseconds */
                                timeout_ms?: number;
                                /** @description What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter */
                                instructions?: string | null;
                            };
                            tools?: {
                                /** @description Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit` */
                                max_rounds?: number;
                            };
                            /**
                             * @description Whether the model is offered `memory_query` to search the record once something is out of its view
                             * @enum {string}
                             */
                            recall?: "offered" | "off";
                            /** @description Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4 */
                            fallback_models?: string[];
                            /**
                             * @description When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes
                             * @enum {string}
                             */
                            on_failure?: "drop" | "note" | "none";
                            /** @description The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact */
                            unknown_window?: number | "conservative" | null;
                            /**
                             * @description How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first
                             * @enum {string}
                             */
                            estimator?: "by_script" | "chars_4";
                            /** @description When the guard drops messages, it continues down to this share of the usable window */
                            guard_target_ratio?: number;
                            /** @description The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter */
                            title_model?: string | null;
                        };
                    };
                };
            };
        };
    };
    getPolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of a copy: 304 if it is still the same */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The name of a policy */
                policy_name: "oneclaw" | "opal" | "odincode" | "yeoman" | "balanced" | "economy" | "retain" | "verbatim";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The policy */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Policy"];
                };
            };
        };
    };
    evaluatePolicy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EvaluatePolicy"];
            };
        };
        responses: {
            /** @description Both policies, and what the session really used */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Evaluation"];
                };
            };
        };
    };
    listUsage: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before, with all else as it was */
                after?: string;
                /** @description Any of day, session, model, purpose, key, end_user, with commas between; empty: one row for all */
                group_by?: string;
                /** @description The first moment; default: the day 30 days before `to` */
                from?: string;
                /** @description The first moment after; default: now. At most 92 days after `from` */
                to?: string;
                /** @description Only the calls of this session */
                session?: string;
                /** @description Only the calls of this model */
                model?: string;
                /** @description Only calls of this purpose */
                purpose?: "turn" | "compaction" | "title" | "comparison";
                /** @description `csv` and `jsonl`: all rows in one answer, without pages. Absent: as `Accept` says, else JSON */
                format?: "json" | "csv" | "jsonl";
                /** @description Only the calls that this API key asked for */
                key_id?: string;
                /** @description Only the calls of this end user */
                end_user?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page in order of the groups; it follows the calls with a short delay; those of erased sessions count on, from the beginning of their quarter of an hour. As CSV or JSON lines: all groups. If older usage was removed, the header `usage-complete-from` says from when on the rows are complete. A CSV cell of free text that begins like a formula has an apostrophe in front */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Usage"][];
                        has_more: boolean;
                        next_cursor: string | null;
                        /** @description Epoch milliseconds */
                        from: number;
                        /** @description Epoch milliseconds */
                        to: number;
                        /** @description The tenant's retention has removed older usage: the sums are of calls from this time on. Null: nothing was removed */
                        complete_from: number | null;
                    };
                    "text/csv": string;
                    "application/x-ndjson": string;
                };
            };
        };
    };
    listModelCalls: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the smallest or oldest first */
                order?: "asc" | "desc";
            };
            header?: never;
            path: {
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, in order of time */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ModelCall"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    listKeys: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the smallest or oldest first */
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, the newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Key"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateKey"];
            };
        };
        responses: {
            /** @description The key. It is shown only once */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"] & {
                        /** @description The key itself, which is shown only once. Null if the request repeats an Idempotency-Key: the first request created and showed the key, and only its hash is stored. If that response was lost, revoke this key and create another */
                        key: string | null;
                    };
                };
            };
        };
    };
    rotateKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of an API key */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateKey"];
            };
        };
        responses: {
            /** @description The new key. It is shown only once */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"] & {
                        /** @description The key itself, which is shown only once. Null if the request repeats an Idempotency-Key: the first request created and showed the key, and only its hash is stored. If that response was lost, revoke this key and create another */
                        key: string | null;
                    };
                };
            };
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of an API key */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The revoked key */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
        };
    };
    createAccessToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAccessToken"];
            };
        };
        responses: {
            /** @description The token. It is shown only here */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessToken"];
                };
            };
        };
    };
    listModels: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the smallest or oldest first */
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, in order of id */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Model"][];
                        has_more: boolean;
                        next_cursor: string | null;
                        /** @enum {string} */
                        object: "list";
                        /** @description The id of the first model of the page. Null if it is empty */
                        first_id: string | null;
                        /** @description The id of the last model of the page. Null if it is empty */
                        last_id: string | null;
                    };
                };
            };
        };
    };
    getModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a model. Encode / as %2F */
                model_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The model */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
        };
    };
    putModel: {
        parameters: {
            query?: never;
            header?: {
                /** @description Change only a resource with this etag: 412 precondition_failed if it has changed since it was read */
                "If-Match"?: string;
                /** @description `*`: create only; 412 precondition_failed if the resource exists */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The id of a model. Encode / as %2F */
                model_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutModel"];
            };
        };
        responses: {
            /** @description The model. Its sessions use the change within 30 seconds */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
        };
    };
    deleteModel: {
        parameters: {
            query?: never;
            header?: {
                /** @description Change only a resource with this etag: 412 precondition_failed if it has changed since it was read */
                "If-Match"?: string;
                /** @description `*`: create only; 412 precondition_failed if the resource exists */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The id of a model. Encode / as %2F */
                model_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelDeletion"];
                };
            };
        };
    };
    probeModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a model. Encode / as %2F */
                model_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The model with the suggested limits. Nothing else has changed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
        };
    };
    listCredentials: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the smallest or oldest first */
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, in order of name */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Credential"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    putCredential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name that the tenant gave to the credential */
                credential_name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutCredential"];
            };
        };
        responses: {
            /** @description The credential without its key. Model calls use the new key within 30 seconds */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Credential"];
                };
            };
        };
    };
    deleteCredential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name that the tenant gave to the credential */
                credential_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    rotateCredentials: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a tenant */
                tenant_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The number of re-encrypted credentials, and those that could not be read */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialRotation"];
                };
            };
        };
    };
    listTools: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the smallest or oldest first */
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, in order of name */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Tool"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getTool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name that the tenant gave to the tool */
                tool_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tool */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tool"];
                };
            };
        };
    };
    putTool: {
        parameters: {
            query?: never;
            header?: {
                /** @description Change only a resource with this etag: 412 precondition_failed if it has changed since it was read */
                "If-Match"?: string;
                /** @description `*`: create only; 412 precondition_failed if the resource exists */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The name that the tenant gave to the tool */
                tool_name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutTool"];
            };
        };
        responses: {
            /** @description The tool. Calls use the change within 30 seconds. The definition that a session offers changes when its tools are set again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tool"];
                };
            };
        };
    };
    deleteTool: {
        parameters: {
            query?: never;
            header?: {
                /** @description Change only a resource with this etag: 412 precondition_failed if it has changed since it was read */
                "If-Match"?: string;
                /** @description `*`: create only; 412 precondition_failed if the resource exists */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The name that the tenant gave to the tool */
                tool_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listMcpServers: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the smallest or oldest first */
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, in order of name */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["McpServer"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getMcpServer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name that the tenant gave to the server */
                server_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The server */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpServer"];
                };
            };
        };
    };
    putMcpServer: {
        parameters: {
            query?: never;
            header?: {
                /** @description Change only a resource with this etag: 412 precondition_failed if it has changed since it was read */
                "If-Match"?: string;
                /** @description `*`: create only; 412 precondition_failed if the resource exists */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The name that the tenant gave to the server */
                server_name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutMcpServer"];
            };
        };
        responses: {
            /** @description The server with its tools */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpServer"];
                };
            };
        };
    };
    deleteMcpServer: {
        parameters: {
            query?: never;
            header?: {
                /** @description Change only a resource with this etag: 412 precondition_failed if it has changed since it was read */
                "If-Match"?: string;
                /** @description `*`: create only; 412 precondition_failed if the resource exists */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The name that the tenant gave to the server */
                server_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    refreshMcpServer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name that the tenant gave to the server */
                server_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The server with its tools */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpServer"];
                };
            };
        };
    };
    listChannels: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the smallest or oldest first */
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, in order of name */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Channel"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name that the tenant gave to the channel */
                channel_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The channel */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
        };
    };
    putChannel: {
        parameters: {
            query?: never;
            header?: {
                /** @description Change only a resource with this etag: 412 precondition_failed if it has changed since it was read */
                "If-Match"?: string;
                /** @description `*`: create only; 412 precondition_failed if the resource exists */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The name that the tenant gave to the channel */
                channel_name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutChannel"];
            };
        };
        responses: {
            /** @description The channel. Webhooks and chats use the change within 30 seconds */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
        };
    };
    deleteChannel: {
        parameters: {
            query?: never;
            header?: {
                /** @description Change only a resource with this etag: 412 precondition_failed if it has changed since it was read */
                "If-Match"?: string;
                /** @description `*`: create only; 412 precondition_failed if the resource exists */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The name that the tenant gave to the channel */
                channel_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    createPairingCode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name that the tenant gave to the channel */
                channel_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The code */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PairingCode"];
                };
            };
        };
    };
    listPairedUsers: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the smallest or oldest first */
                order?: "asc" | "desc";
            };
            header?: never;
            path: {
                /** @description The name that the tenant gave to the channel */
                channel_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, in order of id */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["PairedUser"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    unpairUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name that the tenant gave to the channel */
                channel_name: string;
                /** @description The platform's id of the person */
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Unpaired */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listChannelLog: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description desc: the newest first */
                order?: "asc" | "desc";
            };
            header?: never;
            path: {
                /** @description The name that the tenant gave to the channel */
                channel_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the log */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ChannelLogEntry"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    listFiles: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description By the time of the upload */
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Newest first by default */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["File"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    uploadFile: {
        parameters: {
            query?: {
                /** @description The name that people and models are shown */
                name?: string;
            };
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description The stored file */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["File"];
                };
            };
        };
    };
    getFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a file */
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["File"];
                };
            };
        };
    };
    deleteFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a file */
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file cannot be read any more */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileErasure"];
                };
            };
        };
    };
    downloadFile: {
        parameters: {
            query?: {
                /** @description Part of a signed address, in place of a key */
                signature?: string;
            };
            header?: {
                /** @description The ETag of a copy: 304 if it is still the same */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The id of a file */
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes as they were sent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/png": string;
                    "image/jpeg": string;
                    "image/gif": string;
                    "image/webp": string;
                    "application/pdf": string;
                    "text/plain": string;
                    "text/markdown": string;
                    "text/csv": string;
                    "application/json": unknown;
                };
            };
        };
    };
    signFileUrl: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a file */
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description Seconds
                     * @default 3600
                     */
                    expires_in?: number;
                };
            };
        };
        responses: {
            /** @description The address */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileUrl"];
                };
            };
        };
    };
    getTenantExport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a tenant */
                tenant_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tenant */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantExport"];
                };
            };
        };
    };
    deleteTenant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a tenant */
                tenant_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The erasure: done, or running */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
        };
    };
    assignPlan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a tenant */
                tenant_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AssignPlan"];
            };
        };
        responses: {
            /** @description What is assigned */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantAssignment"];
                };
            };
        };
    };
    getTenantErasure: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a tenant */
                tenant_id: string;
                /** @description The id of an erasure */
                erasure_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The erasure */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
        };
    };
    getEndUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A slash in it is written %2F */
                end_user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The end user */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndUser"];
                };
            };
        };
    };
    eraseEndUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A slash in it is written %2F */
                end_user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The erasure: done, or running */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
        };
    };
    getErasure: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of an erasure */
                erasure_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The erasure */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
        };
    };
    listErasures: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description By the time of the request */
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Newest first by default */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Erasure"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    listEndUsers: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description By the id of the end user */
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["EndUserSummary"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getRetention: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rules */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Retention"];
                };
            };
        };
    };
    putRetention: {
        parameters: {
            query?: never;
            header?: {
                /** @description Change only a resource with this etag: 412 precondition_failed if it has changed since it was read */
                "If-Match"?: string;
                /** @description `*`: create only; 412 precondition_failed if the resource exists */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetentionInput"];
            };
        };
        responses: {
            /** @description The rules */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Retention"];
                };
            };
        };
    };
    previewRetention: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    rules?: components["schemas"]["RetentionInput"] & unknown;
                    /**
                     * @description Looks at so many sessions
                     * @default 50
                     */
                    limit?: number;
                    /** @description next_cursor of the page before */
                    after?: string;
                };
            };
        };
        responses: {
            /** @description What would be removed of the sessions that this page looked at */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetentionPreview"];
                };
            };
        };
    };
    listExports: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Export"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    createExport: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    of: "session";
                    /** @description The id of a session */
                    session_id: string;
                } | {
                    /** @enum {string} */
                    of: "end_user";
                    /** @description The client's id of the person who talks */
                    end_user: string;
                } | {
                    /** @enum {string} */
                    of: "tenant";
                    /**
                     * @description Whether the tenant's settings are in it, as far as the calling key may read them
                     * @default true
                     */
                    settings?: boolean;
                };
            };
        };
        responses: {
            /** @description The export is being made */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Export"];
                };
            };
        };
    };
    getExport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of an export */
                export_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The export */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Export"];
                };
            };
        };
    };
    deleteExport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of an export */
                export_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The export cannot be read any more */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportRemoval"];
                };
            };
        };
    };
    downloadExport: {
        parameters: {
            query?: {
                /** @description Part of a signed address, in place of a key */
                signature?: string;
            };
            header?: never;
            path: {
                /** @description The id of an export */
                export_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One JSON object a line */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/jsonl": string;
                };
            };
        };
    };
    listImports: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Import"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    importSessions: {
        parameters: {
            query?: {
                /** @description next_cursor of the request before, with the same file */
                after?: string;
                /** @description keep: only settings that the tenant has not are restored. replace: those of the file win. skip: none is restored */
                settings?: "keep" | "replace" | "skip";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description What became of each setting and session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportReport"];
                };
            };
        };
    };
    beginImport: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description An export of this tenant */
                    export_id?: string;
                    /**
                     * Format: uri
                     * @description `download_url` of an export of any tenant of this deployment. Name this or export_id
                     */
                    url?: string;
                    /**
                     * @description keep: only settings that the tenant has not are restored. replace: those of the file win. skip: none is restored
                     * @default keep
                     * @enum {string}
                     */
                    settings?: "keep" | "replace" | "skip";
                };
            };
        };
        responses: {
            /** @description The import has begun */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Import"];
                };
            };
        };
    };
    getImport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of an import */
                import_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The import */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Import"];
                };
            };
        };
    };
    deleteImport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of an import */
                import_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Ended */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportDeletion"];
                };
            };
        };
    };
    getImportReport: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
            };
            header?: never;
            path: {
                /** @description The id of an import */
                import_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description In order of the file's lines */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ImportEntry"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    listWebhookEndpoints: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the smallest or oldest first */
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, the oldest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookEndpoint"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    createWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhookEndpoint"];
            };
        };
        responses: {
            /** @description The endpoint with its secret */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"] & {
                        /** @description The signing secret. It is shown by this answer only. Null: the answer repeats that of an earlier request */
                        secret: string | null;
                    };
                };
            };
        };
    };
    getWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a webhook endpoint */
                endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    deleteWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Change only a resource with this etag: 412 precondition_failed if it has changed since it was read */
                "If-Match"?: string;
                /** @description `*`: create only; 412 precondition_failed if the resource exists */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The id of a webhook endpoint */
                endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Change only a resource with this etag: 412 precondition_failed if it has changed since it was read */
                "If-Match"?: string;
                /** @description `*`: create only; 412 precondition_failed if the resource exists */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The id of a webhook endpoint */
                endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchWebhookEndpoint"];
            };
        };
        responses: {
            /** @description The endpoint */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a webhook endpoint */
                endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateWebhookSecret"];
            };
        };
        responses: {
            /** @description The endpoint with its new secret */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"] & {
                        /** @description The signing secret. It is shown by this answer only. Null: the answer repeats that of an earlier request */
                        secret: string | null;
                    };
                };
            };
        };
    };
    testWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a webhook endpoint */
                endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description Only deliveries in this state */
                state?: "pending" | "delivered" | "failed";
            };
            header?: never;
            path: {
                /** @description The id of a webhook endpoint */
                endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, the newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookDelivery"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a webhook endpoint */
                endpoint_id: string;
                /** @description The id of a delivery to a webhook endpoint */
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryDetail"];
                };
            };
        };
    };
    replayWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a webhook endpoint */
                endpoint_id: string;
                /** @description The id of a delivery to a webhook endpoint */
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    replayWebhookDeliveries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a webhook endpoint */
                endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayWebhookDeliveries"];
            };
        };
        responses: {
            /** @description They are under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookReplay"];
                };
            };
        };
    };
    getTenant: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tenant */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
        };
    };
    updateTenant: {
        parameters: {
            query?: never;
            header?: {
                /** @description Change only a resource with this etag: 412 precondition_failed if it has changed since it was read */
                "If-Match"?: string;
                /** @description `*`: create only; 412 precondition_failed if the resource exists */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchTenant"];
            };
        };
        responses: {
            /** @description The tenant */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
        };
    };
    listLimits: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The limits that apply */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LimitUseList"];
                };
            };
        };
    };
    listBudgets: {
        parameters: {
            query?: {
                /** @description The budgets that each end user has, for this one */
                end_user?: string;
                /** @description The budgets that each session has, for this one */
                session_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The budgets, in the order of the plan */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetUseList"];
                };
            };
        };
    };
    listTenantEvents: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before, or the seq of an event: only later ones */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, in order of seq */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TenantEvent"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the oldest first */
                order?: "asc" | "desc";
                /** @description Only entries of this action */
                action?: "tenant.created" | "tenant.rebuilt" | "tenant.suspended" | "tenant.resumed" | "tenant.move_begun" | "tenant.moved" | "tenant.move_cancelled" | "settings.changed" | "retention.changed" | "key.created" | "key.rotated" | "key.revoked" | "model.put" | "model.deleted" | "credential.put" | "credential.deleted" | "credentials.resealed" | "tool.put" | "tool.deleted" | "mcp_server.put" | "mcp_server.refreshed" | "mcp_server.deleted" | "file.uploaded" | "file.deleted" | "session.rebuilt" | "session.rebuilt_and_read" | "content.read_by_admin" | "session.settings_changed" | "session.archived" | "session.unarchived" | "session.rewound" | "pins.set" | "message.redacted" | "compaction.requested" | "compaction.reverted" | "summary.reset" | "draft.edited" | "draft.committed" | "draft.discarded" | "erasure.requested" | "erasure.finished" | "export.created" | "export.deleted" | "export.opened" | "sessions.imported" | "limits.changed" | "admin_key.created" | "admin_key.rotated" | "admin_key.revoked" | "plan.put" | "plan.deleted" | "tenant_list.rebuilt" | "import.begun" | "schedule.set" | "schedule.removed" | "import.deleted" | "webhook_endpoint.created" | "webhook_endpoint.changed" | "webhook_endpoint.secret_rotated" | "webhook_endpoint.deleted" | "webhook_endpoint.disabled" | "webhook_endpoint.tested" | "webhook_deliveries.replayed" | "channel.put" | "channel.deleted" | "channel.code_made" | "channel.user_paired" | "channel.user_unpaired";
                /** @description Only entries of the key, access token or admin key with this id */
                actor?: string;
                /** @description Only entries about what has this id or name */
                target?: string;
                /** @description Only entries from this time on, in epoch milliseconds */
                from?: string;
                /** @description Only entries before this time, in epoch milliseconds */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, or the lines: the place where they begin, the entries from the oldest on, and the place where they end */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditPage"];
                    "application/x-ndjson": components["schemas"]["AuditEntry"];
                };
            };
        };
    };
    listDeploymentAudit: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the oldest first */
                order?: "asc" | "desc";
                /** @description Only entries of this action */
                action?: "tenant.created" | "tenant.rebuilt" | "tenant.suspended" | "tenant.resumed" | "tenant.move_begun" | "tenant.moved" | "tenant.move_cancelled" | "settings.changed" | "retention.changed" | "key.created" | "key.rotated" | "key.revoked" | "model.put" | "model.deleted" | "credential.put" | "credential.deleted" | "credentials.resealed" | "tool.put" | "tool.deleted" | "mcp_server.put" | "mcp_server.refreshed" | "mcp_server.deleted" | "file.uploaded" | "file.deleted" | "session.rebuilt" | "session.rebuilt_and_read" | "content.read_by_admin" | "session.settings_changed" | "session.archived" | "session.unarchived" | "session.rewound" | "pins.set" | "message.redacted" | "compaction.requested" | "compaction.reverted" | "summary.reset" | "draft.edited" | "draft.committed" | "draft.discarded" | "erasure.requested" | "erasure.finished" | "export.created" | "export.deleted" | "export.opened" | "sessions.imported" | "limits.changed" | "admin_key.created" | "admin_key.rotated" | "admin_key.revoked" | "plan.put" | "plan.deleted" | "tenant_list.rebuilt" | "import.begun" | "schedule.set" | "schedule.removed" | "import.deleted" | "webhook_endpoint.created" | "webhook_endpoint.changed" | "webhook_endpoint.secret_rotated" | "webhook_endpoint.deleted" | "webhook_endpoint.disabled" | "webhook_endpoint.tested" | "webhook_deliveries.replayed" | "channel.put" | "channel.deleted" | "channel.code_made" | "channel.user_paired" | "channel.user_unpaired";
                /** @description Only entries of the key, access token or admin key with this id */
                actor?: string;
                /** @description Only entries about what has this id or name */
                target?: string;
                /** @description Only entries from this time on, in epoch milliseconds */
                from?: string;
                /** @description Only entries before this time, in epoch milliseconds */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, or the lines: the place where they begin, the entries from the oldest on, and the place where they end */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditPage"];
                    "application/x-ndjson": components["schemas"]["AuditEntry"];
                };
            };
        };
    };
    listTenants: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the smallest or oldest first */
                order?: "asc" | "desc";
                /** @description Only tenants whose name contains this, in either case */
                name?: string;
                /** @description Only tenants with this status */
                status?: "active" | "suspended" | "deleted";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ListedTenant"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    createTenant: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. After that the key is spent: 409 tenant_exists. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTenant"];
            };
        };
        responses: {
            /** @description The tenant's id */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The id of a tenant */
                        id: string;
                    };
                };
            };
        };
    };
    createTenantKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of a tenant */
                tenant_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateKey"];
            };
        };
        responses: {
            /** @description The key. It is shown only once */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewKey"];
                };
            };
        };
    };
    rebuildTenantList: {
        parameters: {
            query?: {
                /** @description The next_cursor of the previous response */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was entered */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantListRebuild"];
                };
            };
        };
    };
    listPlans: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the smallest or oldest first */
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, in order of name */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TenantPlan"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getPlan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a tenant plan */
                plan_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The plan */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantPlan"];
                };
            };
        };
    };
    putPlan: {
        parameters: {
            query?: never;
            header?: {
                /** @description Change only a resource with this etag: 412 precondition_failed if it has changed since it was read */
                "If-Match"?: string;
                /** @description `*`: create only; 412 precondition_failed if the resource exists */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The name of a tenant plan */
                plan_name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutTenantPlan"];
            };
        };
        responses: {
            /** @description The plan */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantPlan"];
                };
            };
        };
    };
    deletePlan: {
        parameters: {
            query?: never;
            header?: {
                /** @description Change only a resource with this etag: 412 precondition_failed if it has changed since it was read */
                "If-Match"?: string;
                /** @description `*`: create only; 412 precondition_failed if the resource exists */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The name of a tenant plan */
                plan_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    suspendTenant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a tenant */
                tenant_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SuspendTenant"];
            };
        };
        responses: {
            /** @description The tenant's status */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantStanding"];
                };
            };
        };
    };
    resumeTenant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a tenant */
                tenant_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tenant's status */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantStanding"];
                };
            };
        };
    };
    listAdminKeys: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description asc: the smallest or oldest first */
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, the newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AdminKey"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    createAdminKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAdminKey"];
            };
        };
        responses: {
            /** @description The key. It is shown only once */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminKey"] & {
                        /** @description The key itself, which is shown only once. Null if the request repeats an Idempotency-Key: the first request created and showed the key, and only its hash is stored. If that response was lost, revoke this key and create another */
                        key: string | null;
                    };
                };
            };
        };
    };
    getAdminKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of an admin key */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminKey"];
                };
            };
        };
    };
    revokeAdminKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of an admin key */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The revoked key */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminKey"];
                };
            };
        };
    };
    rotateAdminKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of an admin key */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateAdminKey"];
            };
        };
        responses: {
            /** @description The new key. It is shown only once */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminKey"] & {
                        /** @description The key itself, which is shown only once. Null if the request repeats an Idempotency-Key: the first request created and showed the key, and only its hash is stored. If that response was lost, revoke this key and create another */
                        key: string | null;
                    };
                };
            };
        };
    };
    listTenantSessions: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
                /** @description `rows` lists the sessions of the read model, so that they can be compared with the tenant's directory */
                source?: "directory" | "rows";
            };
            header?: never;
            path: {
                /** @description The id of a tenant */
                tenant_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            /** @description The id of a session */
                            id: string;
                            /** @description Epoch milliseconds */
                            created_at: number;
                        }[];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    exportSessionLog: {
        parameters: {
            query?: {
                /** @description At most so many; fewer where they are large, and then has_more is true */
                limit?: number;
                /** @description next_cursor of the page before */
                after?: string;
            };
            header?: never;
            path: {
                /** @description The id of a tenant */
                tenant_id: string;
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page in order of seq */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        events: components["schemas"]["Event"][];
                        bodies: {
                            id: string;
                            text: string;
                        }[];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    rebuildSession: {
        parameters: {
            query?: {
                /** @description The next_cursor of the previous response */
                after?: string;
            };
            header?: never;
            path: {
                /** @description The id of a tenant */
                tenant_id: string;
                /** @description The id of a session */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The differences found, and whether they were repaired */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RebuildReport"];
                };
            };
        };
    };
    rebuildTenant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a tenant */
                tenant_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The differences found, and whether they were repaired */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantRebuildReport"];
                };
            };
        };
    };
    listDatabases: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All databases, by the names of their bindings */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseList"];
                };
            };
        };
    };
    getTenantMove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a tenant */
                tenant_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The placement */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Placement"];
                };
            };
        };
    };
    moveTenant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a tenant */
                tenant_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MoveTenant"];
            };
        };
        responses: {
            /** @description The placement after the step */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Placement"];
                };
            };
        };
    };
    cancelTenantMove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a tenant */
                tenant_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The placement */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Placement"];
                };
            };
        };
    };
}
