# syntax=docker/dockerfile:1
# The service as an image: built with a compiler, run without one and without root.
# Alone (`docker run -p 8000:8000 -v cushion:/data cushion`) it runs its own PostgreSQL and Redis in /data; compose.yaml
# gives it databases of its own. Stop it with patience (`docker stop -t 120`): it drains first.
# It listens on every address, so only the first tenant registers freely: do that before others reach it, or set
# CUSHION_SYSTEM_API_KEY for the next ones. CUSHION_OPEN_REGISTRATION=on lets anybody register.

FROM python:3.12-slim-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
RUN python -m venv /opt/cushion
WORKDIR /source
COPY pyproject.toml setup.py .constraints.txt README.md LICENSE ./
COPY core core
COPY cushion cushion
COPY service service
COPY docs docs
# The wheel that this builds has the guide.
RUN /opt/cushion/bin/pip install --no-cache-dir --constraint .constraints.txt '.[service,otel]'

FROM python:3.12-slim-bookworm
# A name, because PostgreSQL's initdb asks for the one of its user.
RUN groupadd --system --gid 10001 cushion \
    && useradd --system --uid 10001 --gid cushion --no-create-home --home-dir /data --shell /usr/sbin/nologin cushion \
    && install --directory --owner=cushion --group=cushion --mode=0700 /data
COPY --from=build /opt/cushion /opt/cushion
ENV PATH=/opt/cushion/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    CUSHION_HOST=0.0.0.0 \
    CUSHION_PORT=8000 \
    CUSHION_OPEN_REGISTRATION=off \
    CUSHION_DATA_DIR=/data
USER 10001:10001
WORKDIR /data
RUN python -m core.warm
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ[\"CUSHION_PORT\"]}/health/ready', timeout=2)"]
CMD ["cushion", "serve"]
