# The GitHub App: `serve` and `worker` from one image. Runs as nobody in particular, on a root that it cannot write.
#
#     docker build --tag reviewbot .
#     docker run --read-only --tmpfs /tmp --volume reviewbot:/state --publish 8000:8000 reviewbot
#
# State is in /state alone. See docs/operations.md.
FROM python:3.11-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY reviewbot reviewbot
COPY workers workers
COPY prompts prompts
RUN python -m venv /app && /app/bin/pip install --no-cache-dir --disable-pip-version-check '.[server]' \
    && /app/bin/python -m compileall -q /app/lib

FROM python:3.11-slim
RUN groupadd --gid 10001 reviewbot && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /state reviewbot \
    && install --directory --mode=0700 --owner=10001 --group=10001 /state
COPY --from=build /app /app
ENV PATH=/app/bin:$PATH HOME=/state XDG_CACHE_HOME=/tmp REVIEWBOT_STATE_DIR=/state PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 10001:10001
VOLUME /state
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["python", "-c", \
    "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["reviewbot"]
CMD ["serve", "--host", "0.0.0.0"]
