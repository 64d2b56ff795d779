-- Asks SchedMate about a job that sbatch is about to submit, and shows the advice.
-- It runs in sbatch, as the user. Whatever goes wrong, the job is submitted as it is: no answer
-- within the deadline, no daemon, no curl, an odd answer.
-- Another cli_filter.lua can load this file and call it from its own slurm_cli_pre_submit:
--     local schedmate = dofile("/path/of/this/file")
--     schedmate.advise(options)
--     schedmate.set_back(options)
--     schedmate.lend(options)

local SOCKET = "@SOCKET@"
local DEADLINE_S = "@DEADLINE_S@"
local ALWAYS = @ALWAYS@ -- also where stderr is no terminal
local NICE = @NICE@ -- is added to every job's, until the daemon has ordered it
local SHARDS = @SHARDS@ -- are asked for in place of one GPU, by jobs that may share theirs
local SHARED = { partition = @PARTITIONS@, qos = @QOS@ } -- where all jobs may

local MOST_ASKED = 32768
local MOST_SHOWN = 2000
local MOST_LINES = 8
local MOST_NICE = 2147483645
local UNSET = -2 -- Slurm's NO_VAL, as the option shows it
local NAMES = {
    "array", "chdir", "gpus", "gpus-per-node", "gpus-per-task", "gres", "job-name", "nodes",
    "ntasks", "ntasks-per-node", "partition", "time", "wrap",
}
-- where there is no curl; the body is its second argument
local PYTHON = [[
import socket, sys
s = socket.socket(socket.AF_UNIX); s.settimeout(1); s.connect(sys.argv[1]); b = sys.argv[2].encode()
s.sendall(b"POST /v1/advice HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s" % (len(b), b))
a = b""
while len(a) < 8192:
    c = s.recv(8192)
    if not c: break
    a += c
h, _, t = a.partition(b"\r\n\r\n")
if b" 200 " in h.split(b"\r\n")[0]: sys.stdout.buffer.write(t)
]]

local schedmate = {}

local function encoded(text)
    return (string.gsub(text, "[^%w%-%._~]", function(char)
        return string.format("%%%02X", string.byte(char))
    end))
end

local function quoted(text)
    return "'" .. string.gsub(text, "'", "'\\''") .. "'"
end

local function question(options)
    local parts = { "cwd=" .. encoded(os.getenv("PWD") or "") }
    for _, word in ipairs(options["argv"] or {}) do
        parts[#parts + 1] = "argv=" .. encoded(word)
    end
    for _, name in ipairs(NAMES) do
        local value = options[name]
        if type(value) == "string" and value ~= "" then
            parts[#parts + 1] = encoded(name) .. "=" .. encoded(value)
        end
    end
    return table.concat(parts, "&")
end

local function ask(body)
    local socket = quoted(SOCKET)
    local by_curl = "timeout -s KILL " .. DEADLINE_S .. " curl -s -f --max-time " .. DEADLINE_S
        .. " --noproxy '*' --unix-socket " .. socket .. " --data-raw " .. quoted(body)
        .. " http://localhost/v1/advice"
    local by_python = "timeout -s KILL " .. DEADLINE_S .. " python3 -I -S -c " .. quoted(PYTHON)
        .. " " .. socket .. " " .. quoted(body)
    local command = (ALWAYS and "" or "[ -t 2 ] || exit 0; ")
        .. "[ -S " .. socket .. " ] || exit 0; exec 2>/dev/null; "
        .. "if command -v curl >/dev/null; then " .. by_curl .. "; else " .. by_python .. "; fi"
    local pipe = io.popen(command, "r")
    if pipe == nil then
        return ""
    end
    local answer = pipe:read(MOST_SHOWN)
    pipe:close()
    return answer or ""
end

local function show(answer)
    local count = 0
    for line in string.gmatch(answer, "[^\r\n]+") do
        count = count + 1
        if count > MOST_LINES then
            return
        end
        -- nothing in it may move the cursor, or be taken for a format
        slurm.log_info("%s", "schedmate: " .. string.gsub(line, "[%c\127-\255]", "?"))
    end
end

function schedmate.advise(options)
    pcall(function()
        if options["type"] ~= "sbatch" or os.getenv("SCHEDMATE_HOOK") == "off" then
            return
        end
        local body = question(options)
        if #body <= MOST_ASKED then
            show(ask(body))
        end
    end)
end

-- A job that nobody has looked at yet does not stand before those that were set back.
function schedmate.set_back(options)
    pcall(function()
        if NICE > 0 and (options["type"] == "sbatch" or options["type"] == "salloc"
                or options["type"] == "srun") then
            local own = tonumber(options["nice"] or UNSET) or UNSET
            if own == UNSET or own > MOST_NICE then
                own = 0
            end
            if own >= 0 then -- below zero is for operators
                options["nice"] = string.format("%d", NICE + own)
            end
        end
    end)
end

local function may_share(options)
    local words = {}
    local comment = " " .. string.lower(tostring(options["comment"] or ""))
    for word in string.gmatch(comment, "[%s,;]schedmate=([%w_%-]+)") do
        words[word] = true
    end
    if words["keep"] or words["off"] then
        return false
    end
    return words["shareable"] or SHARED.partition[options["partition"] or ""]
        or SHARED.qos[options["qos"] or ""]
end

-- All parts of one GPU instead of the GPU: Slurm cannot turn one into the other later.
function schedmate.lend(options)
    pcall(function()
        local asked = string.gsub(options["gres"] or "", "^gres[:/]", "")
        local kind = string.match(asked, "^gpu:([%a_][%w_%-]*):?1?$")
        if kind == nil and string.match(asked, "^gpu:?1?$") then
            kind = ""
        end
        if SHARDS > 0 and options["type"] == "sbatch" and kind ~= nil and may_share(options) then
            options["gres"] = "shard:" .. (kind == "" and "" or kind .. ":") .. SHARDS
        end
    end)
end

function slurm_cli_setup_defaults(options, early)
    return slurm.SUCCESS
end

function slurm_cli_pre_submit(options, offset)
    if offset == 0 then
        schedmate.advise(options)
    end
    schedmate.set_back(options)
    schedmate.lend(options)
    return slurm.SUCCESS
end

function slurm_cli_post_submit(offset, job_id, step_id)
    return slurm.SUCCESS
end

return schedmate
